import { parentPort } from 'node:worker_threads';
import { giveBackWhenIdle } from '../../timers/timers.ts';
import type { StorageError } from '../storage-error.ts';
import { serializeError, type SerializedError } from './serialized-error.ts';
import type { Engine } from './engine.ts';
import { type Call, OPERATION_NAMES, type OperationName, type Replies } from './operations.ts';

/** What the thread of a store tells its client. */
export type WorkerMessage =
  | {
      readonly kind: 'opened';
      readonly operations: readonly OperationName[];
      /** What the operator should know. */
      readonly notice?: string;
    }
  | { readonly kind: 'refused'; readonly error: SerializedError }
  | { readonly kind: 'replies'; readonly replies: Replies }
  | { readonly kind: 'outside-change' }
  /** The store can be written again, or no longer and why. */
  | { readonly kind: 'health'; readonly trouble?: SerializedError };

export function postMessage(message: WorkerMessage): void {
  parentPort?.postMessage(message);
}

/** The store cannot be opened. */
export function refuse(error: StorageError): void {
  postMessage({ kind: 'refused', error: serializeError(error, () => error) });
  parentPort?.close();
}

export interface ServeOptions {
  /** What the operator should know. */
  readonly notice?: string | undefined;
  /** Called after the answers of a batch have gone. */
  readonly onAnswered?: () => void;
}

/**
 * Answers calls until the client closes. While one batch is being synced the next ones gather in the port; the loop
 * then takes all of them at once. That is the whole of group commit.
 */
export function serveBatches(
  engine: Engine,
  onClose: () => void,
  { notice, onAnswered }: ServeOptions = {},
): void {
  const port = parentPort;
  if (port === null) throw new Error('a store runs in a worker thread only');
  let waiting: Call[] = [];
  let isScheduled = false;
  const runBatch = () => {
    isScheduled = false;
    if (waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    postMessage({ kind: 'replies', replies: engine.run(batch) });
    onAnswered?.();
  };
  engine.onHealthChange((trouble) =>
    postMessage({ kind: 'health', ...(trouble && { trouble: serializeError(trouble, () => trouble) }) }),
  );
  port.on('message', (message: readonly Call[] | 'close') => {
    if (message === 'close') {
      runBatch();
      onClose();
      port.close();
      return;
    }
    for (const call of message) waiting.push(call);
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(runBatch);
  });
  giveBackWhenIdle();
  postMessage({ kind: 'opened', operations: OPERATION_NAMES, ...(notice === undefined ? {} : { notice }) });
}
