import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The file that a command's name starts; `path` is what PATH holds. Undefined where there is none. */
export function findOnPath(command: string, path = ''): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, command))
    .find(isExecutable);
}

export function isOnPath(command: string, path?: string): boolean {
  return findOnPath(command, path) !== undefined;
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Undefined where the file is not there, cannot be reached, or has a name that no file can have. */
export function statOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

/** Quotes a text, where needed, so that a shell reads it as one word. */
export function shellWord(text: string): string {
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
