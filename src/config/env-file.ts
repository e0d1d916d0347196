/** A variable that is not set, and stands in a file of variables that nobody has read into the environment. */
import { readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseEnv } from 'node:util';

const FILES = ['.env', '.env.local', 'sluice.env'];
const MAX_BYTES = 1024 * 1024;

/** Says in which file a variable stands, and how to start with it; looks beside the configuration, then where the command runs. */
export function envFileHint(
  name: string,
  directory: string,
  { cwd = process.cwd(), command = usedCommand(process.argv) } = {},
): string | undefined {
  const folders = [...new Set([directory, cwd])];
  const file = folders
    .flatMap((folder) => FILES.map((one) => join(folder, one)))
    .find((one) => hasVariable(one, name));
  if (file === undefined) return undefined;
  const path = relative(cwd, file);
  const shown = path.startsWith('..') ? file : `./${path}`;
  return `${name} stands in ${shown}, which Sluice does not read by itself: start it with set -a; . ${shown}; set +a; sluice ${command}`;
}

/** The command that serves: `dev` where that was started. */
const usedCommand = (argv: readonly string[]): string => (argv[2] === 'dev' ? 'dev' : 'serve');

function hasVariable(file: string, name: string): boolean {
  try {
    if (statSync(file).size > MAX_BYTES) return false;
    return (parseEnv(readFileSync(file, 'utf8'))[name] ?? '') !== '';
  } catch {
    return false;
  }
}
