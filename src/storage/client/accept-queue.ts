import { HookError } from '../../errors.ts';
import { findSoleRun, freshResult, prepareRequest, preparedBytes } from '../prepared-request.ts';
import type { AcceptedWork, AcceptResult } from '../records.ts';
import { StorageError } from '../storage-error.ts';
import { unavailable } from '../engine/serialized-error.ts';
import type { RemoteOperations } from '../engine/operations.ts';

/** Requests and bytes that wait for a commit at most; beyond them a sender is told at once. */
const MAX_WAITING = 1000;
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** Hands requests over to be stored, and refuses more than can wait. */
export class AcceptQueue {
  readonly #operations: Pick<RemoteOperations, 'acceptRequest' | 'acceptSoleRun'>;
  #waiting = 0;
  #waitingBytes = 0;

  constructor(operations: Pick<RemoteOperations, 'acceptRequest' | 'acceptSoleRun'>) {
    this.#operations = operations;
  }

  async accept(work: AcceptedWork): Promise<AcceptResult> {
    const result = freshResult(work);
    const request = prepareRequest(work, result);
    const bytes = preparedBytes(request);
    this.#checkRoom(bytes);
    this.#waiting += 1;
    this.#waitingBytes += bytes;
    try {
      const run = findSoleRun(request);
      const repeated =
        run === undefined
          ? await this.#operations.acceptRequest(request)
          : await this.#operations.acceptSoleRun(
              run.id,
              run.sessionKey,
              run.owner,
              run.mappingId,
              run.runner,
              run.action,
              run.bytes,
              run.acceptedAt,
            );
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
