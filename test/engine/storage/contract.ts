import { acceptContract } from './contract-accept.ts';
import { conversationsContract } from './contract-conversations.ts';
import { eventsContract } from './contract-events.ts';
import { gatheringContract } from './contract-gathering.ts';
import { holdsContract } from './contract-holds.ts';
import { limitsContract } from './contract-limits.ts';
import { lifeContract } from './contract-life.ts';
import { mailContract } from './contract-mail.ts';
import { queueContract } from './contract-queue.ts';
import { replicasContract } from './contract-replicas.ts';
import { runsContract } from './contract-runs.ts';
import { workersContract } from './contract-workers.ts';
import { startsContract } from './contract-starts.ts';
import { openHarness, type OpenFresh, type Reopen } from '../../support/storage-harness.ts';

/** What every implementation of the storage port promises. A new one calls this and writes no test of its own. */
export function storageContract(
  name: string,
  openFresh: OpenFresh,
  reopen: Reopen,
  options: { readonly isShared: boolean },
): void {
  const harness = openHarness(openFresh, reopen);
  acceptContract(name, harness, options);
  runsContract(name, harness);
  queueContract(name, harness);
  conversationsContract(name, harness);
  eventsContract(name, harness);
  gatheringContract(name, harness);
  holdsContract(name, harness);
  limitsContract(name, harness);
  lifeContract(name, harness, options);
  mailContract(name, harness);
  startsContract(name, harness);
  replicasContract(name, harness, options);
  workersContract(name, harness, options);
}
