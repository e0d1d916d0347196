import { basename, dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEFAULT_CONFIG_FILES, type LoadedConfig } from '../../engine/config/config.ts';
import { shellWord } from '../../engine/config/facts.ts';
import type { Terminal } from './terminal.ts';

/** Returns a Sluice command as it works where it is pasted: with the configuration, unless it is found by itself. */
export function commandLine({ cwd }: Pick<Terminal, 'cwd'>, configFile: string, command: string): string {
  const file = relative(cwd, configFile);
  const option = (DEFAULT_CONFIG_FILES as readonly string[]).includes(file) ? '' : ` -c ${shellWord(file)}`;
  return `${ownCommand(cwd)} ${command}${option}`;
}

const PACKAGE = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Says how this program is called in a folder. It uses npx only where npx finds it, in its checkout and
 * below the folder that it is installed in; elsewhere npx would run whatever a registry has under the name.
 */
export function ownCommand(cwd: string, started = process.argv[1] ?? '', home = PACKAGE): string {
  const [holder = home] = home.split(`${sep}node_modules${sep}`);
  if (`${cwd}${sep}`.startsWith(holder.endsWith(sep) ? holder : `${holder}${sep}`)) return 'npx sluice';
  return basename(started) === 'sluice' ? 'sluice' : `node ${shellWord(started)}`;
}

/**
 * Returns the hook token as a shell reads it from its source. Returns undefined where the token stands in
 * the configuration itself, because it must not be printed from there.
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

/** Returns what a shell prints of a file. */
export function catFile(file: string, cwd: string): string {
  return `$(cat ${shellWord(relative(cwd, file))})`;
}
