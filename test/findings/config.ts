import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { loadConfig } from '../../src/engine/config/config.ts';
import { CONFIG_CODES } from '../../src/engine/config/config-codes.ts';
import type { Finding } from '../../src/base/document/document.ts';

export const codes = CONFIG_CODES;

/** The environment of every case. */
const env = { HOOK_TOKEN: 'hook-token-from-env', SAME: 'one-secret-for-both', EMPTY: '', WORD: 'abc' };

/** Cases in which -c names another file. */
const NAMED: Readonly<Record<string, string>> = {
  'NOT_A_CONFIGURATION-mapping': 'razorpay.yaml',
  'NOT_A_CONFIGURATION-package': 'package.json',
  'NOT_A_CONFIGURATION-request': 'order.request.yaml',
};

/** Loads the case's configuration as `serve` does. */
export async function check(folder: string): Promise<readonly Finding[]> {
  const names = await readdir(folder);
  const named = NAMED[basename(folder)];
  const name = named ?? names.find((file) => /^(?:sluice|openclaw)\./.test(file));
  const { findings } = await loadConfig(name === undefined ? undefined : join(folder, name), {
    env,
    needSecrets: true,
    cwd: folder,
  });
  return findings;
}
