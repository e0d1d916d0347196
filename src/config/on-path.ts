import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Whether a command can be started by its name; `path` is what PATH holds. */
export function isOnPath(command: string, path = ''): boolean {
  return path.split(delimiter).some((folder) => {
    if (folder === '') return false;
    try {
      accessSync(join(folder, command), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
