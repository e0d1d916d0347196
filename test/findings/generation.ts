import { join } from 'node:path';
import { advise } from '../../src/authoring/advice/advice.ts';
import type { Finding } from '../../src/base/document/document.ts';
import { loadGeneration } from '../../src/service/generation/generation.ts';
import { Sandbox } from '../../src/engine/sandbox/sandbox.ts';

export const codes = [
  'CHANNEL_NOT_CONFIGURED',
  'CHANNEL_SETTINGS',
  'CHANNEL_UNDECIDED',
  'COMMAND_NOT_FOUND',
  'FAILURE_REPLIES_KEPT',
  'FORWARD_MERGES_CONVERSATIONS',
  'IGNORE_COMMENT',
  'INSTRUCTIONS_FORWARDED',
  'NOTICE_PATH_TAKEN',
  'PLUGIN_NOT_LOADED',
  'PUBLIC_URL_MISSING',
  'RECIPIENT_MISSING',
  'RECOVER_SETTINGS',
  'RUNNER_ACCESS',
  'RUNNER_FOLDER',
  'RUNNER_SETTINGS',
  'CONVERSATION_NOT_RESUMED',
  'STARTED_BY_MISSING',
  'COST_NOT_TOLD',
  'TIMEOUT_CUT',
];

/** The environment of every case. */
const env = { PATH: '/usr/bin:/bin', HOME: '/nonexistent', CODEX_API_KEY: 'key-from-env' };

/** Loads the case's configuration with everything it names, as `check` does. */
export async function check(folder: string): Promise<readonly Finding[]> {
  const sandbox = new Sandbox({ workers: 1, spare: 0 });
  try {
    const options = { env, needSecrets: false, dev: true, sandbox, advise, mayLoadPlugins: () => true };
    return (await loadGeneration(join(folder, 'sluice.yaml'), options)).findings;
  } finally {
    await sandbox.stop();
  }
}
