import type { KeepRequests, Settings } from '../../engine/config/config.ts';
import { keptSettings, packGeneration, type LiveGeneration } from '../generation/generation.ts';
import { removeOldWorkFolders } from '../runners/runners.ts';
import { retentionLimits, type Storage } from '../../engine/storage/storage.ts';
import { codeOf, type Log } from '../../base/telemetry/telemetry.ts';

const PRUNE_EVERY_MS = 10 * 60_000;

/** Applies `storage.keep` at once, as a service may never live as long as the interval, and then again and again. */
export function keepPruning(
  storage: Storage,
  live: LiveGeneration,
  options: PruneOptions & { readonly pruneEveryMs?: number | undefined },
): () => void {
  const { log, pruneEveryMs = PRUNE_EVERY_MS } = options;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const prune = async (): Promise<void> => {
    try {
      await storage.prune(retentionLimits(live.generation.config.settings.storage.keep), Date.now());
      // Old requests go by the clock, whether others come or not.
      const { days } = keptOf(live, options);
      if (days !== undefined) await storage.forgetRequests(Date.now() - days * 86_400_000);
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

interface PruneOptions {
  readonly log: Log;
  /** Which requests the serving command keeps where the configuration does not say it. */
  readonly keepRequests?: KeepRequests | undefined;
}

const keptOf = (
  { generation }: LiveGeneration,
  { keepRequests }: PruneOptions,
): ReturnType<typeof keptSettings> =>
  keptSettings(generation.config.settings.storage.keepRequests, keepRequests);

/** Stores the live files, so that a request can be judged by them as long as its decision is there. */
export async function keepLive(
  storage: Storage,
  { generation }: LiveGeneration,
  { log }: PruneOptions,
): Promise<void> {
  try {
    const packed = await packGeneration(generation);
    if (packed !== undefined) await storage.keepGeneration(packed, Date.now());
  } catch (error) {
    log.warn(
      { generation: generation.id, code: codeOf(error) },
      'the files of this generation could not be kept: requests that it judges are explained by later ones',
    );
  }
}

/** Logs once what is kept, where the store is from a version that kept less. */
export async function sayWhatIsKept(
  storage: Storage,
  live: LiveGeneration,
  keeping: PruneOptions,
): Promise<void> {
  const { which, bytes, days } = keptOf(live, keeping);
  if (which !== 'shapes') return;
  const [newest] = await storage.listDecisions({ limit: 1 });
  if (newest?.isOlder !== true) return;
  keeping.log.info(
    { bytes, days },
    'new in this version: requests that are refused or fail are kept whole, and of accepted ones the shape, without what nothing reads; storage.keepRequests.which: transforms keeps what was kept before, none keeps nothing',
  );
}
