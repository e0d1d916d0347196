/** A thread that turns fetched messages into payloads, one after the other; `message-reader.ts` starts and ends it. */
import { parentPort } from 'node:worker_threads';
import { toMessage } from './message-payload.ts';
import type { FetchedMail } from './source.ts';

/** What the thread is asked: one message. */
export interface ReadRequest {
  readonly mail: FetchedMail;
  readonly maxBodyChars: number;
}

// Loaded before the first message, whose time is measured.
await Promise.all([import('postal-mime'), import('html-to-text')]);
parentPort?.on('message', ({ mail, maxBodyChars }: ReadRequest) => {
  void toMessage(asSent(mail), { maxBodyChars }).then((message) => parentPort?.postMessage(message));
});
parentPort?.postMessage('ready');

/** A buffer comes over as an array of bytes. */
function asSent(mail: FetchedMail): FetchedMail {
  const { content } = mail;
  if (content.kind === 'parts') return mail;
  const { buffer, byteOffset, length } = content.source;
  return { ...mail, content: { ...content, source: Buffer.from(buffer, byteOffset, length) } };
}
