import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/**
 * Returns the package in the project that a folder belongs to, as a path from the folder; undefined where there is
 * none. A shared file must not name this installation, because its path is right on this machine alone.
 */
export function findOwnPackage(folder: string): string | undefined {
  for (let place = folder; ; place = dirname(place)) {
    const own = join(place, 'node_modules/sluice');
    if (existsSync(own)) return relative(folder, own).replaceAll('\\', '/');
    if (existsSync(join(place, '.git')) || dirname(place) === place) return undefined;
  }
}

/**
 * Completes a text for a file in `folder`: its line for editors names the schema of the project's own
 * package, or is left out.
 */
export function withSchemaLine(text: string, folder: string): string {
  const own = findOwnPackage(folder);
  return own === undefined
    ? text.replace(/^# yaml-language-server: .*\n(?:#\n)?/, '')
    : text.replace(/\$schema=\S*?([\w.]+\.schema\.json)/, `$schema=${own}/schemas/$1`);
}
