/**
 * A thread that starts the process that reads a mailbox, hands on what goes between the two, and ends with it. A fork
 * copies the tables of the whole process: 4 to 13 ms of computing for 200 MB, which the serving thread does not have.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { type FromReader, type FromThread, TOO_LARGE, type ToThread } from './reader-messages.ts';

const ENTRY = fileURLToPath(new URL(`reader-program${extname(import.meta.url)}`, import.meta.url));
/** Of the reader's heap, in MB: it holds eight messages of 1 MB at most, and answers of 8 MB. */
const HEAP_MB = 256;

const child = fork(ENTRY, {
  execArgv: [`--max-old-space-size=${String(HEAP_MB)}`],
  serialization: 'advanced',
  stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
});
child.on('message', (message: FromReader) => say(message));
parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'kill') child.kill('SIGKILL');
  // A channel that breaks ends the reader, and that is heard of.
  else if (child.connected) child.send(message, () => undefined);
});
say({ kind: 'ended', reason: await endOf(child) });
parentPort?.close();

function say(message: FromThread): void {
  parentPort?.postMessage(message);
}

function endOf(reader: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    reader.once('error', (error) => resolve(error.message));
    reader.once('exit', (code, signal) => {
      const isLarge = code === TOO_LARGE || signal === 'SIGABRT';
      resolve(isLarge ? 'it took more memory than it may' : (signal ?? `exit code ${String(code)}`));
    });
  });
}
