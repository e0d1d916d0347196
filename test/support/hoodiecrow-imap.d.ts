/** The parts of an IMAP server in this process that tests use; the package has no types. */
declare module 'hoodiecrow-imap' {
  import type { Server } from 'node:net';

  export interface Hoodiecrow {
    readonly server: Server;
    listen(port: number, host: string, callback: () => void): void;
    appendMessage(folder: string, flags: readonly string[], date: Date, raw: string): void;
    getMailbox(name: string): { uidvalidity: number; uidnext: number; messages: { uid: number }[] };
  }
  export default function createHoodiecrow(options: object): Hoodiecrow;
}
