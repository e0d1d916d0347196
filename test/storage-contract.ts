import { acceptContract } from './storage-contract-accept.ts';
import { eventsContract } from './storage-contract-events.ts';
import { lifeContract } from './storage-contract-life.ts';
import { queueContract } from './storage-contract-queue.ts';
import { runsContract } from './storage-contract-runs.ts';
import { openHarness, type OpenFresh, type Reopen } from './storage-harness.ts';

/** What every implementation of the storage port promises. A new one calls this and writes no test of its own. */
export function storageContract(name: string, openFresh: OpenFresh, reopen: Reopen): void {
  const harness = openHarness(openFresh, reopen);
  acceptContract(name, harness);
  runsContract(name, harness);
  queueContract(name, harness);
  eventsContract(name, harness);
  lifeContract(name, harness);
}
