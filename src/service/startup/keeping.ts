import type { KeepRequests } from '../../engine/config/config.ts';
import { keptSettings, packGeneration, type LiveGeneration } from '../generation/generation.ts';
import type { Storage } from '../../engine/storage/storage.ts';
import { codeOf, type Log } from '../../base/telemetry/telemetry.ts';

interface Keeping {
  readonly log: Log;
  /** What the command that serves keeps where the configuration does not say. */
  readonly keepRequests?: KeepRequests | undefined;
}

/** Keeps the files that are live, so that a request can be judged by them as long as its decision is there. */
export async function keepLive(
  storage: Storage,
  { generation }: LiveGeneration,
  { log }: Keeping,
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

/** Forgets requests that are too old, by the clock, whether others come or not. */
export async function forgetOldRequests(
  storage: Storage,
  { generation }: LiveGeneration,
  { keepRequests }: Keeping,
): Promise<void> {
  const { days } = keptSettings(generation.config.settings.storage.keepRequests, keepRequests);
  if (days !== undefined) await storage.forgetRequests(Date.now() - days * 86_400_000);
}

/** Says once what is kept, where the store is from a version that kept less. */
export async function sayWhatIsKept(
  storage: Storage,
  { generation }: LiveGeneration,
  { log, keepRequests }: Keeping,
): Promise<void> {
  const { which, bytes, days } = keptSettings(generation.config.settings.storage.keepRequests, keepRequests);
  if (which !== 'shapes') return;
  const [newest] = await storage.listDecisions({ limit: 1 });
  if (newest?.isOlder !== true) return;
  log.info(
    { bytes, days },
    'new in this version: requests that are refused or fail are kept whole, and of accepted ones the shape, without what nothing reads; storage.keepRequests.which: transforms keeps what was kept before, none keeps nothing',
  );
}
