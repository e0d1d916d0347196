import { basename, dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEFAULT_CONFIG_FILES, type LoadedConfig } from '../../engine/config/config.ts';
import { shellWord } from '../../authoring/advice/commands.ts';
import type { Terminal } from './terminal.ts';

/** A command of ours as it works where it is pasted: with the configuration, where that is not found by itself. */
export function commandLine({ cwd }: Pick<Terminal, 'cwd'>, configFile: string, command: string): string {
  const file = relative(cwd, configFile);
  const option = (DEFAULT_CONFIG_FILES as readonly string[]).includes(file) ? '' : ` -c ${shellWord(file)}`;
  return `${ownCommand(cwd)} ${command}${option}`;
}

const PACKAGE = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * How this program is called in a folder: by npx only where npx finds it, in its checkout and below the folder that it is
 * installed in; elsewhere npx would run whatever a registry has under the name.
 */
export function ownCommand(cwd: string, started = process.argv[1] ?? '', home = PACKAGE): string {
  const [holder = home] = home.split(`${sep}node_modules${sep}`);
  if (`${cwd}${sep}`.startsWith(holder.endsWith(sep) ? holder : `${holder}${sep}`)) return 'npx sluice';
  return basename(started) === 'sluice' ? 'sluice' : `node ${shellWord(started)}`;
}

/**
 * The hook token as a shell fills it in from where the configuration has it; undefined where it stands in the
 * configuration itself, which is no place to print it from.
 */
export function tokenInShell(
  { root, file }: Pick<LoadedConfig, 'root' | 'file'>,
  { cwd }: Pick<Terminal, 'cwd'>,
): string | undefined {
  const { value } = root.at(['hooks', 'token']);
  const [, name] = typeof value === 'string' ? (/^\$\{([A-Za-z_]\w*)\}$/.exec(value) ?? []) : [];
  if (name !== undefined) return `$${name}`;
  const path: unknown =
    typeof value === 'object' && value !== null && 'file' in value ? value.file : undefined;
  return typeof path === 'string' ? catFile(resolve(dirname(file), path), cwd) : undefined;
}

/** What a shell prints of a file. */
export function catFile(file: string, cwd: string): string {
  return `$(cat ${shellWord(relative(cwd, file))})`;
}
