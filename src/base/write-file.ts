/** Writing files whole or not at all: a crash leaves the old one or the new one, never a part. Several may write one. */
import { randomUUID } from 'node:crypto';
import { mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Writes a file that only its owner may read, and makes its folder. */
export async function writeSecretFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeWhole(file, text, 0o600);
}

/** Replaces a file, with the mode of the old one; a link stays a link. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const target = await realpath(file);
  const { mode } = await stat(target);
  await writeWhole(target, text, mode);
}

async function writeWhole(file: string, text: string, mode: number): Promise<void> {
  // Hidden and without the end of its name, so that nobody takes it for one of the files of its folder.
  const next = join(dirname(file), `.${randomUUID()}.new`);
  try {
    await writeFile(next, text, { mode, flag: 'wx', flush: true });
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}
