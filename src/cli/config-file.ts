import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DEFAULT_CONFIG_FILES, loadConfig, type LoadedConfig } from '../config/config.ts';
import { formatDiagnostics } from '../document/document.ts';
import { CliError, type Terminal } from './terminal.ts';

export interface ConfigFlags {
  readonly config?: string;
}

/** Of commands that also print for programs. */
export interface JsonFlags extends ConfigFlags {
  readonly json?: boolean;
}

/** The configuration a command works with: what `-c` says, else `./sluice.yaml` or `./sluice.json`. */
export function findConfigFile(terminal: Terminal, flags: ConfigFlags): string {
  if (flags.config !== undefined) return resolve(terminal.cwd, flags.config);
  const found = DEFAULT_CONFIG_FILES.map((name) => resolve(terminal.cwd, name)).find((file) =>
    existsSync(file),
  );
  if (found === undefined) {
    throw new CliError(
      'there is no sluice.yaml or sluice.json here; name the configuration with -c FILE, or write one with "sluice init"',
    );
  }
  return found;
}

/** The folder of golden cases: as named, from the working directory; else `test/golden` next to the configuration. */
export function findCasesFolder(terminal: Terminal, flags: ConfigFlags, named: string | undefined): string {
  if (named !== undefined) return resolve(terminal.cwd, named);
  return join(dirname(findConfigFile(terminal, flags)), 'test', 'golden');
}

/**
 * Loads the configuration; its errors end the command. Only commands that send something need its secrets, and none
 * of those needs a hook token before it knows whether `sluice dev` made one.
 */
export async function loadSettings(
  terminal: Terminal,
  flags: ConfigFlags,
  { needSecrets = false }: { readonly needSecrets?: boolean } = {},
): Promise<LoadedConfig> {
  const file = findConfigFile(terminal, flags);
  const { config, diagnostics } = await loadConfig(file, { env: terminal.env, needSecrets, dev: true });
  if (config !== undefined) return config;
  terminal.err(formatDiagnostics(diagnostics, { color: terminal.color }));
  throw new CliError('the configuration has errors');
}
