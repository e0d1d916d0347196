/**
 * The key that a sender brings in its first request, as Notion does. `sluice add` makes the file `<secret>.wanted`; who
 * takes it away may write `<secret>.sent`, once. It is no secret of the path before the operator has confirmed it.
 */
import { rm, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Generation } from '../generation/generation.ts';

const WAIT_MS = 600_000;

interface SentKey {
  readonly path: string;
  readonly key: string;
  readonly nowMs?: number;
}

/** Writes a key where the operator waits for one; resolves to whether that is so. */
export async function takeKey(
  { config, table }: Pick<Generation, 'config' | 'table'>,
  { path, key, nowMs = Date.now() }: SentKey,
): Promise<boolean> {
  const { settings } = table.settingsOf(path).verify ?? {};
  const [secret] = settings !== undefined && 'secrets' in settings ? settings.secrets : [];
  if (typeof secret !== 'object') return false;
  const file = resolve(dirname(config.file), secret.file);
  const wanted = `${file}.wanted`;
  const taken = `${file}.taken`;
  let since: number;
  try {
    since = (await stat(wanted)).mtimeMs;
    // Where two come at the same time, one takes the file.
    await rename(wanted, taken);
  } catch {
    return false;
  }
  await rm(taken, { force: true });
  if (nowMs - since > WAIT_MS) return false;
  await writeFile(`${file}.sent`, `${key}\n`, { mode: 0o600, flag: 'w' });
  return true;
}
