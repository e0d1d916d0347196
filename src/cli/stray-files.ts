/** Mappings that lie beside the folder that is read. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { displayName } from '../document/document.ts';

/** What people call the folder of mappings. */
const FOLDERS = ['mapping', 'hooks', 'webhooks', 'config', 'configs', '.'];
/** More files are not opened, and larger ones neither. */
const MAX_FILES = 20;
const MAX_CHARS = 65_536;

/** Where no mapping was loaded: files elsewhere that look like some. */
export function strayMappings(configFile: string, cwd: string): readonly string[] {
  const folder = dirname(configFile);
  const found = FOLDERS.flatMap((name) => mappingsIn(join(folder, name)).map((file) => join(name, file)));
  const [first] = found;
  if (first === undefined) return [];
  const list = found.slice(0, 3).join(', ');
  return [
    `no mapping is loaded: mapping files are read from ${displayName(join(folder, 'mappings'), cwd)} (hooks.mappingsDir), and ${list} ${found.length === 1 ? 'is' : 'are'} not there: move ${found.length === 1 ? 'it' : 'them'}`,
  ];
}

function mappingsIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && /\.ya?ml$/i.test(entry.name),
  );
  return files
    .slice(0, MAX_FILES)
    .map(({ name }) => name)
    .filter((name) => isMapping(join(folder, name)));
}

function isMapping(file: string): boolean {
  const text = readFileSync(file, 'utf8').slice(0, MAX_CHARS);
  return (
    /^(?:- +|\s*)match:/m.test(text) &&
    /\b(?:message|text)Template:|^\s*(?:- +)?(?:action|transform):/m.test(text)
  );
}
