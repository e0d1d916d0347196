import { say } from '../finding.ts';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ConfigFile } from './config-schema.ts';
import type { Reporter } from './reporter.ts';

/**
 * A directory that is named has to be there. Missing transforms are only a warning: a mapping that needs one reports
 * it, and one that needs none works.
 */
export async function checkDirectories(
  reporter: Reporter,
  file: ConfigFile,
  directory: string,
): Promise<void> {
  const { mappingsDir, transformsDir } = file.hooks;
  const checks = [
    { key: 'mappingsDir', name: mappingsDir, severity: 'error' },
    { key: 'transformsDir', name: transformsDir, severity: 'warning' },
  ] as const;
  for (const { key, name, severity } of checks) {
    const isWritten = reporter.root.at(['hooks', key]).value !== undefined;
    if (!isWritten || name === undefined || (await isDirectory(resolve(directory, name)))) continue;
    reporter.report('DIRECTORY_NOT_FOUND', ['hooks', key], {
      severity,
      message: say`hooks.${key} names a directory that does not exist`,
      hint: say`create it, or correct the path: it is relative to the configuration file`,
    });
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
