import { basename, dirname } from 'node:path';
import { stateFolder } from '../../../engine/config/config.ts';
import { shellWord } from '../../../engine/config/facts.ts';
import type { StorageOptions } from '../../../engine/storage/storage.ts';

/** Says where the services of a configuration record which store they worked with, and how to accept another one. */
export function knownStoreOf(
  configFile: string,
  env: NodeJS.ProcessEnv,
): NonNullable<StorageOptions['known']> {
  const name = `${basename(configFile)}.json`;
  return {
    file: stateFolder('store', { directory: dirname(configFile), env, name }),
    acceptCommand: `sluice storage migrate --accept -c ${shellWord(configFile)}`,
  };
}
