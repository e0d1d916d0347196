import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { loadConfig } from '../../src/engine/config/config.ts';
import type { Finding } from '../../src/base/document/document.ts';

export const codes = [
  'CONFIG_NOT_FOUND',
  'NOT_A_CONFIGURATION',
  'MISSING_VARIABLE',
  'INVALID_REFERENCE',
  'DEPRECATED_KEY',
  'SECRET_FILE_UNREADABLE',
  'TOKEN_REQUIRED',
  'INVALID_TOKEN',
  'TOKEN_REUSED',
  'SHORT_TOKEN',
  'INVALID_WORKER_TOKEN',
  'MAIN_SESSION_KEY',
  'MAIN_SESSION_WORKER',
  'HOOKS_DISABLED',
  'INVALID_HOOKS_PATH',
  'UNKNOWN_PRESET',
  'DIRECTORY_NOT_FOUND',
  'EXPOSED_LISTENER',
  'ECHO_RUNNER',
  'UNKNOWN_RUNNER',
  'DUPLICATE_RUNNER',
  'MODEL_NOT_SERVED',
  'ALIAS_CYCLE',
  'UNKNOWN_CHANNEL',
  'DUPLICATE_CHANNEL',
  'INVALID_STORAGE_URL',
  'INVALID_CALLBACK_SECRET',
  'INCLUDE_UNREADABLE',
  'SECRET_REF_UNREADABLE',
  'EXTENDS_UNREADABLE',
  'NOT_TRANSLATED',
  'OPENCLAW_NOT_FOUND',
  'HOOKS_PORT',
  'UNKNOWN_AGENT',
  'SESSION_KEY_PREFIX',
  'SESSION_KEY_IN_ARGV',
  'IGNORED_SECTIONS',
  'IGNORED_HOOK_KEYS',
  'MAIL_BLOCK_IGNORED',
  'MAIL_READ_BY_GATEWAY',
  'UNENCRYPTED_MAIL',
  'UNPROVED_MAIL',
];

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
