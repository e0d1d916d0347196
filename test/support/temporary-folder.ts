import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** When something ends that was made for a test: with the test under way, or `afterAll` with those of its file. */
export type AtEnd = (end: () => void | Promise<void>) => void;

/** Makes a folder of the test under way, which is removed when the test has finished. */
export function temporaryFolder(atEnd: AtEnd = onTestFinished): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-test-')));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
