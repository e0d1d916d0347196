import type { MailBlock } from '../../engine/config/config.ts';
import { MailFailure } from './mail-failure.ts';
import { folderOpener, readerFolders } from './open-source.ts';
import type { MailSource } from './source.ts';

/**
 * Connects to the mailbox of a configuration, logs in and opens each folder, as its reader does, and leaves again; no
 * message is read or marked.
 * @throws MailFailure that says what the server did not take; its message holds no secret
 */
export async function tryMailbox(mail: MailBlock, timeoutMs: number): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(timeoutMs);
  const late = rejectOn(signal, `no answer within ${timeoutMs / 1000} s`);
  const open = folderOpener(mail, { imapTimes: { connectMs: timeoutMs, callMs: timeoutMs } });
  const folders = readerFolders(mail);
  for (const folder of folders) {
    const opening = open(folder, signal);
    closeIfLate(opening, signal);
    // oxlint-disable-next-line no-await-in-loop -- one connection at a time: servers limit them
    const source = await Promise.race([opening, late]);
    source.close();
  }
  return folders;
}

function rejectOn(signal: AbortSignal, message: string): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new MailFailure('connection', message)));
  });
}

/** One that opens after all is not left open. */
function closeIfLate(opening: Promise<MailSource>, signal: AbortSignal): void {
  void opening.then(
    (source) => {
      if (signal.aborted) source.close();
    },
    () => undefined,
  );
}
