import { parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { type SerializedError, serializeError, StorageError } from '../storage-error.ts';
import type { Engine } from './engine.ts';
import { type Call, OPERATION_NAMES, type OperationName, type Replies } from './statement-table.ts';

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

/** What its client tells it. Who gives up waits no more for requests that came before. */
type Message = readonly Call[] | 'close' | 'give up';

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
 * Answers calls until the client closes. While one batch is being synced the next ones gather in the port; all of
 * them are then taken at once. That is the whole of group commit.
 */
export function serveBatches(
  engine: Engine,
  onClose: () => void,
  { notice, onAnswered }: ServeOptions = {},
): void {
  const port = parentPort;
  if (port === null) throw new Error('a store runs in a worker thread only');
  engine.onHealthChange((trouble) =>
    postMessage({ kind: 'health', ...(trouble && { trouble: serializeError(trouble, () => trouble) }) }),
  );
  const next = (): Message | undefined => receiveMessageOnPort(port)?.message as Message | undefined;
  port.on('message', (first: Message) => {
    let batch: Call[] = [];
    let isClosing = false;
    for (let message: Message | undefined = first; message !== undefined; message = next()) {
      if (message === 'close') isClosing = true;
      else if (message === 'give up') batch = withoutRequests(batch);
      else batch.push(...message);
    }
    if (batch.length > 0) {
      postMessage({ kind: 'replies', replies: engine.run(batch) });
      onAnswered?.();
    }
    if (!isClosing) return;
    onClose();
    port.close();
  });
  postMessage({ kind: 'opened', operations: OPERATION_NAMES, ...(notice === undefined ? {} : { notice }) });
}

const GIVEN_UP = new StorageError('unreachable', 'nobody waits for it any more');

function withoutRequests(batch: readonly Call[]): Call[] {
  const isRequest = ([, name]: Call): boolean => name === 'acceptRequest';
  const failure = serializeError(GIVEN_UP, () => GIVEN_UP);
  const replies = batch.filter(isRequest).flatMap(([id]) => [id, 1, failure]);
  postMessage({ kind: 'replies', replies });
  return batch.filter((call) => !isRequest(call));
}
