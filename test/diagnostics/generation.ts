import { join } from 'node:path';
import type { Diagnostic } from '../../src/document/document.ts';
import { loadGeneration } from '../../src/generation/generation.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';

export const codes = ['CHANNEL_NOT_CONFIGURED', 'CHANNEL_SETTINGS', 'FORWARD_MERGES_CONVERSATIONS', 'INSTRUCTIONS_FORWARDED', 'PLUGIN_NOT_LOADED', 'RUNNER_SETTINGS'];

/** Loads the case's configuration with everything it names, as `check` does. */
export async function check(folder: string): Promise<readonly Diagnostic[]> {
  const sandbox = new Sandbox();
  try {
    const options = { env: {}, needSecrets: false, dev: true, sandbox };
    return (await loadGeneration(join(folder, 'sluice.yaml'), options)).diagnostics;
  } finally {
    await sandbox.stop();
  }
}
