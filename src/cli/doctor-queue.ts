import { existsSync } from 'node:fs';
import type { LoadedConfig } from '../config/config.ts';
import { findStoreFile, openStorage } from '../storage/storage.ts';
import type { MachineFinding } from './doctor-machine.ts';
import { findWaits, waitLines } from './queue-waits.ts';

/** Runs that wait because somebody paused them, or because their mapping is at its limit. */
export async function queueFindings({ settings }: LoadedConfig): Promise<readonly MachineFinding[]> {
  const { url } = settings.storage;
  // A service that never ran has nothing that waits; it is not made here.
  const file = findStoreFile(url);
  if (file !== undefined && !existsSync(file)) return [];
  try {
    const storage = await openStorage(url, { mode: 'attached' });
    try {
      const nowMs = Date.now();
      const lines = waitLines(await findWaits(storage, nowMs), nowMs);
      if (lines.length === 0) return [{ area: 'queue', ok: true, text: 'nothing is paused or at a limit' }];
      return lines.map((text) => ({ area: 'queue', ok: false, text }));
    } finally {
      await storage.close();
    }
  } catch (error) {
    return [{ area: 'queue', ok: false, text: error instanceof Error ? error.message : String(error) }];
  }
}
