import type { Settings } from '../../engine/config/config.ts';
import type { LiveGeneration } from '../generation/generation.ts';
import { removeOldWorkFolders } from '../runners/runners.ts';
import { retentionLimits, type Storage } from '../../engine/storage/storage.ts';
import { codeOf, type Log } from '../../base/telemetry/telemetry.ts';
import { forgetOldRequests, keepLive } from './keeping.ts';
import type { ServiceOptions } from './service-options.ts';

const PRUNE_EVERY_MS = 10 * 60_000;

/** Applies `storage.keep` at once, as a service may never live as long as the interval, and then again and again. */
export function keepPruning(
  storage: Storage,
  live: LiveGeneration,
  options: Pick<ServiceOptions, 'log' | 'keepRequests' | 'pruneEveryMs'>,
): () => void {
  const { log, pruneEveryMs = PRUNE_EVERY_MS } = options;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const prune = async (): Promise<void> => {
    try {
      await storage.prune(retentionLimits(live.generation.config.settings.storage.keep), Date.now());
      await forgetOldRequests(storage, live, options);
    } catch {
      if (!isStopped) log.error({}, 'old work could not be removed from the store; trying again later');
    }
    if (!isStopped) await keepLive(storage, live, options);
    await removeUnusedFolders(live.generation.config.settings, log);
    if (!isStopped) timer = setTimeout(() => void prune(), pruneEveryMs).unref();
  };
  void prune();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Removes private folders of conversations that were not used for as long as ended work is kept. */
async function removeUnusedFolders({ gateway, storage }: Settings, log: Log): Promise<void> {
  const beforeMs = Date.now() - retentionLimits(storage.keep).maxAgeMs;
  for (const [runner, settings] of Object.entries(gateway.runners)) {
    if ((settings.kind !== 'command' && settings.kind !== 'agent') || settings.privateFolders === undefined)
      continue;
    try {
      for (const folder of await removeOldWorkFolders(settings.privateFolders, beforeMs))
        log.info({ runner, folder }, 'a private folder that was not used any more was removed');
    } catch (error) {
      log.warn({ runner, code: codeOf(error) }, 'a private folder could not be removed; trying again later');
    }
  }
}
