/**
 * Decides whether code of a folder runs with all rights of its user: plugins, and the folder's own
 * TypeScript. `serve` and `dev` load it, because a person who starts them means to run what the folder
 * says. Other commands load it only where this machine allowed it.
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { pluginFiles } from '../../../service/channels/channels.ts';
import { stateFolder } from '../../../engine/config/config.ts';
import { displayName } from '../../../base/document/document.ts';
import { writeSecretFile } from '../../../base/write-file.ts';
import type { GenerationOptions } from '../../../service/generation/generation.ts';
import { hashModules } from '../../../engine/sandbox/sandbox.ts';
import type { Cli } from '../command-line.ts';
import { type ConfigFlags, findConfigFile, loadSettings } from '../config-file.ts';
import { commandLine } from '../next-steps.ts';
import { CliError, type Terminal } from '../terminal.ts';

type MayLoad = NonNullable<GenerationOptions['mayLoadPlugins']>;

/** Decides whether a command that serves nothing may load plugins; it says once what is left out. */
export function pluginGate(terminal: Terminal): MayLoad {
  let isSaid = false;
  return async ({ file, settings: { plugins } }) => {
    const said = terminal.env['SLUICE_TRUST'];
    if (said === 'yes' || said === 'no') return said === 'yes';
    if (await isTrusted(terminal, file, plugins)) return true;
    if (!isSaid)
      terminal.err(
        `not loaded: ${plugins.map((name) => displayName(name, terminal.cwd)).join(', ')} (plugins). They run with all your rights, and nobody on this machine has said yes to them as they are now. Read them, and say yes with: ${commandLine(terminal, file, 'check --trust')}`,
      );
    isSaid = true;
    return false;
  };
}

async function isTrusted(terminal: Terminal, file: string, plugins: readonly string[]): Promise<boolean> {
  let known: string;
  try {
    known = readFileSync(trustFile(terminal, file), 'utf8');
  } catch {
    // A folder that nobody allowed is not read.
    return false;
  }
  return known === (await hashOf(file, plugins));
}

/** The file stands outside the folder, and its name depends on the folder's path. */
const trustFile = ({ env }: Terminal, file: string): string =>
  stateFolder('trust', { directory: dirname(resolve(file)), env, name: basename(file) });

async function hashOf(file: string, plugins: readonly string[]): Promise<string | undefined> {
  const files = pluginFiles(plugins, dirname(resolve(file)));
  return files === undefined ? undefined : hashModules(files);
}

/** Allows the plugins of a configuration as they are now. */
export async function trust({ terminal }: Cli, flags: ConfigFlags): Promise<void> {
  const file = findConfigFile(terminal, flags);
  const { settings } = await loadSettings(terminal, flags);
  const { plugins } = settings;
  if (plugins.length === 0) throw new CliError('plugins is empty: there is nothing to say yes to', 2);
  if (terminal.env['SLUICE_TRUST'] === 'no')
    throw new CliError('SLUICE_TRUST is no: nothing is trusted here', 2);
  const hash = await hashOf(file, plugins);
  if (hash === undefined)
    throw new CliError(
      `a plugin, or a module that it imports, is not there or cannot be read: ${plugins.join(', ')}`,
      2,
    );
  await writeSecretFile(trustFile(terminal, file), hash);
  terminal.err(
    `this machine loads these plugins from now on, until one of their files changes: ${plugins.map((name) => displayName(name, terminal.cwd)).join(', ')}`,
  );
}
