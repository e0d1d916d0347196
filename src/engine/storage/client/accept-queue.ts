import { HookError } from '../../../base/errors.ts';
import { findSole, freshResult, prepareRequest, preparedBytes } from '../prepared-request.ts';
import type { AcceptedWork, AcceptResult } from '../records.ts';
import { StorageError } from '../storage-error.ts';
import { unavailable } from '../statements/serialized-error.ts';
import type { RemoteOperations } from '../statements/statement-table.ts';

/** Requests and bytes that wait for a commit at most; beyond them a sender is told at once. */
const MAX_WAITING = 1000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Hands requests over to be stored, and refuses more than can wait. */
export class AcceptQueue {
  readonly #store: RemoteOperations['acceptRequest'];
  #waiting = 0;
  #waitingBytes = 0;

  constructor(store: RemoteOperations['acceptRequest']) {
    this.#store = store;
  }

  async accept(work: AcceptedWork): Promise<AcceptResult> {
    const result = freshResult(work);
    const request = prepareRequest(work, result);
    const bytes = preparedBytes(request);
    this.#checkRoom(bytes);
    this.#waiting += 1;
    this.#waitingBytes += bytes;
    try {
      const repeated = await this.#store(request);
      return repeated === null ? result : (JSON.parse(repeated) as AcceptResult);
    } catch (error) {
      throw error instanceof StorageError ? unavailable(error) : error;
    } finally {
      this.#waiting -= 1;
      this.#waitingBytes -= bytes;
    }
  }

  #checkRoom(bytes: number): void {
    const isFull = this.#waiting > 0 && this.#waitingBytes + bytes > MAX_WAITING_BYTES;
    if (!isFull && this.#waiting < MAX_WAITING) return;
    throw new HookError('storage_unavailable', 'too many requests wait for the store', {
      retryAfterSeconds: 1,
    });
  }
}

/** Parts one by one where it can be: an object's copy for another thread takes its property names along. */
export function inParts({
  acceptRequest,
  acceptSoleRun,
  acceptSoleWake,
}: RemoteOperations): RemoteOperations['acceptRequest'] {
  return (request) => {
    const sole = findSole(request);
    if (sole === undefined) return acceptRequest(request);
    if (sole.kind === 'wake') {
      const { id, text, mode, mappingId, origin, createdAt } = sole.row;
      return acceptSoleWake(id, text, mode, mappingId, origin, createdAt);
    }
    const { id, sessionKey, owner, mappingId, runner, action, bytes, acceptedAt } = sole.row;
    return acceptSoleRun(id, sessionKey, owner, mappingId, runner, action, bytes, acceptedAt);
  };
}
