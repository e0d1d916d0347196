import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { advise } from '../../src/authoring/advice/advice.ts';
import type { Finding } from '../../src/base/document/document.ts';
import { loadGeneration } from '../../src/service/generation/generation.ts';
import { findInSamples, sampleFolders } from '../../src/authoring/golden/golden.ts';
import { Sandbox } from '../../src/engine/sandbox/sandbox.ts';

export const codes = [
  'CONDITION_UNKNOWN_PATH',
  'CONDITION_UNKNOWN_VALUE',
  'TEMPLATE_UNKNOWN_PATH',
  'UNTRUSTED_ROUTING',
];

/** What samples say of the mappings of a case, whose configuration is the smallest where it has none. */
export async function check(folder: string): Promise<readonly Finding[]> {
  const file = join(folder, 'sluice.yaml');
  if (!existsSync(file)) writeFileSync(file, 'hooks: {enabled: true}\n');
  const sandbox = new Sandbox({ workers: 1, spare: 0 });
  try {
    const options = { env: {}, needSecrets: false, dev: true, sandbox, advise };
    const { generation, findings } = await loadGeneration(file, options);
    if (generation === undefined) return findings;
    return (await findInSamples(sampleFolders(generation.config), generation)).findings;
  } finally {
    await sandbox.stop();
  }
}
