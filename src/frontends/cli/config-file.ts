import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  DEFAULT_CONFIG_FILES,
  hideValues,
  loadConfig,
  type LoadedConfig,
} from '../../engine/config/config.ts';
import { isOpenClawFile } from '../../engine/config/facts.ts';
import type { Finding } from '../../base/document/document.ts';
import { formatFindings } from '../../base/document/facts.ts';
import { advise } from './lazy-advice.ts';
import { CliError, type Terminal } from './terminal.ts';

export interface ConfigFlags {
  readonly config?: string;
}

export interface JsonFlags extends ConfigFlags {
  readonly json?: boolean;
}

const NEAR_NAMES = ['sluice.yml', 'sluice.config.yaml', 'sluice.config.yml', '.sluice.yaml', 'Sluice.yaml'];

/** Returns the configuration of a folder; undefined where it has none. */
export const configIn = (folder: string): string | undefined =>
  DEFAULT_CONFIG_FILES.map((name) => join(folder, name)).find((file) => existsSync(file));

/** Returns the configuration a command works with: what `-c` says, else `./sluice.yaml` or `./sluice.json`. */
export function findConfigFile(terminal: Terminal, flags: ConfigFlags): string {
  if (flags.config !== undefined) return resolve(terminal.cwd, flags.config);
  const found = configIn(terminal.cwd);
  if (found !== undefined) return found;
  const near = NEAR_NAMES.find((name) => existsSync(resolve(terminal.cwd, name)));
  const rename = near === undefined ? '' : `there is ${near}: rename it to sluice.yaml, or `;
  throw new CliError(
    `there is no sluice.yaml or sluice.json here; ${rename}name the configuration with -c FILE, or write one with "sluice init"`,
    2,
  );
}

/**
 * Returns the folder of golden cases: as named, from the working directory; else `test/golden` next to the
 * configuration.
 */
export function findCasesFolder(terminal: Terminal, flags: ConfigFlags, named: string | undefined): string {
  if (named !== undefined) return resolve(terminal.cwd, named);
  return join(dirname(findConfigFile(terminal, flags)), 'test', 'golden');
}

/**
 * Loads the configuration; its errors end the command. Only commands that send something need its secrets,
 * and none of those needs a hook token before it knows whether `sluice dev` made one.
 */
export async function loadSettings(
  terminal: Terminal,
  flags: ConfigFlags,
  { needSecrets = false }: { readonly needSecrets?: boolean } = {},
): Promise<LoadedConfig> {
  const file = findConfigFile(terminal, flags);
  const options = { env: terminal.env, needSecrets, dev: true };
  const { config, findings, secrets = [] } = await loadConfig(file, options);
  if (config !== undefined) return config;
  printFindings(terminal, hideValues(await advise(findings, []), secrets));
  throw new CliError('the configuration has errors');
}

/** Prints what was found in files of the operator, where there is anything. */
export function printFindings(terminal: Terminal, findings: readonly Finding[]): void {
  if (findings.length > 0) terminal.err(formatFindings(findings, { color: terminal.color }));
}

/** @throws CliError for a file of OpenClaw, which is read and never written */
export function refuseOpenClawFile(file: string): void {
  if (!isOpenClawFile(file)) return;
  throw new CliError(
    'settings of Sluice cannot be written into an OpenClaw file: make a sluice.yaml with "extends: openclaw.json" and name it with -c',
    2,
  );
}
