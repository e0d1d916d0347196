import type { ImapFlow, ListResponse, MailboxObject } from 'imapflow';
import { describe, field, textField } from '../../base/outgoing/outgoing.ts';
import { pause, within } from '../../base/timers/timers.ts';
import { MailFailure, toMailFailure } from './mail-failure.ts';

export interface ImapAccess {
  readonly host: string;
  readonly port: number;
  readonly security: 'tls' | 'starttls' | 'none';
  readonly user: string;
  /** A password, or an access token for XOAUTH2 and OAUTHBEARER. */
  readonly secret: { readonly kind: 'password' | 'token'; readonly value: string };
}

/** Where a mailbox is, as far as the settings say so. */
export interface ImapServer extends Pick<ImapAccess, 'host'> {
  readonly account: string;
  readonly port?: number | undefined;
  readonly security?: ImapAccess['security'] | undefined;
  readonly user?: string | undefined;
}

/** The server of a mailbox, with the defaults for what is not said. */
export function imapServer(place: ImapServer): Omit<ImapAccess, 'secret'> {
  const { host, account, security = 'tls', user = account } = place;
  return { host, port: place.port ?? (security === 'tls' ? 993 : 143), security, user };
}

export interface ImapTimes {
  readonly connectMs: number;
  readonly callMs: number;
}

export const IMAP_TIMES: ImapTimes = { connectMs: 30_000, callMs: 120_000 };

/** Folders that hold no mail that arrived, or none that anyone should act on. */
const LEFT_OUT = new Map([
  ['\\Junk', 'spam'],
  ['\\Trash', 'trash'],
  ['\\Drafts', 'drafts'],
  ['\\Sent', 'sent mail'],
]);

/** Longest line of an answer: SEARCH names 50,000 messages at most on one, and BODYSTRUCTURE all parts of one. */
const MAX_LINE_BYTES = 1024 * 1024;
const MAX_LITERAL_BYTES = 8 * 1024 * 1024;

/**
 * One connection with one folder open for reading. A server that does not answer in time, or ends the connection,
 * fails what is under way; a client that has failed is of no further use.
 */
export class ImapClient {
  readonly #flow: ImapFlow;
  readonly #times: ImapTimes;
  readonly #secrets: readonly string[];
  #lost: MailFailure | undefined;
  #arrived = false;
  #wakeUp: (() => void) | undefined;

  private constructor(flow: ImapFlow, times: ImapTimes, secrets: readonly string[]) {
    this.#flow = flow;
    this.#times = times;
    this.#secrets = secrets;
    // Without listeners an error on an idle connection would end the process.
    flow.on('error', (error: Error) => this.#lose(error));
    flow.on('close', () => this.#lose(new MailFailure('connection', 'the server ended the connection')));
    flow.on('exists', () => {
      this.#arrived = true;
      this.#wakeUp?.();
    });
  }

  /**
   * Connects, logs in and opens the folder for reading.
   * @throws MailFailure
   */
  static async open(
    access: ImapAccess,
    { folder, times = IMAP_TIMES }: { readonly folder: string; readonly times?: ImapTimes },
  ): Promise<ImapClient> {
    const flow = await createFlow(access, times);
    const secrets = [access.secret.value];
    const client = new ImapClient(flow, times, secrets);
    try {
      await client.#timed(flow.connect(), times.connectMs, 'did not let us in');
      await client.#openFolder(folder);
      return client;
    } catch (error) {
      client.close();
      throw loginFailure(error, access, secrets);
    }
  }

  get mailbox(): MailboxObject {
    const { mailbox } = this.#flow;
    if (mailbox === false) throw this.#lost ?? new MailFailure('connection', 'the folder is not open');
    return mailbox;
  }

  /** Runs one or more commands. */
  async call<Result>(work: (flow: ImapFlow) => Promise<Result>): Promise<Result> {
    if (this.#lost !== undefined) throw this.#lost;
    try {
      return await this.#timed(work(this.#flow), this.#times.callMs, 'did not answer');
    } catch (error) {
      // A connection that failed once may have half an answer: it is given up.
      this.close();
      throw this.#lost ?? toMailFailure(error, this.#secrets);
    }
  }

  /**
   * Waits in IDLE (RFC 2177) until a message arrives or the time is over. The folder is opened for IDLE by us: the
   * library would do it by itself only after 15 s.
   */
  async idle(maxMs: number, signal: AbortSignal): Promise<void> {
    if (this.#lost !== undefined) throw this.#lost;
    if (!this.#arrived && !signal.aborted) {
      const waiting = new AbortController();
      const wakeUp = (): void => waiting.abort();
      this.#wakeUp = wakeUp;
      signal.addEventListener('abort', wakeUp, { once: true });
      this.#flow.idle().catch((error: unknown) => this.#lose(error));
      await pause(maxMs, waiting.signal);
      signal.removeEventListener('abort', wakeUp);
      this.#wakeUp = undefined;
    }
    this.#arrived = false;
    const lost: MailFailure | undefined = this.#lost;
    if (lost !== undefined) throw lost;
  }

  close(): void {
    this.#lost ??= new MailFailure('connection', 'the connection is closed');
    this.#wakeUp?.();
    this.#flow.close();
  }

  async #openFolder(folder: string): Promise<void> {
    const listed = await this.#timed(this.#flow.list(), this.#times.callMs, 'did not list its folders');
    const { path } = folderNamed(folder, listed);
    await this.#timed(
      this.#flow.mailboxOpen(path, { readOnly: true }),
      this.#times.callMs,
      'did not open the folder',
    );
  }

  async #timed<Result>(work: Promise<Result>, ms: number, what: string): Promise<Result> {
    const result = await within(
      work.then((value) => ({ value })),
      ms,
    );
    if (result !== undefined) return result.value;
    throw new MailFailure('connection', `the server ${what} within ${String(Math.round(ms / 1000))} s`);
  }

  #lose(error: unknown): void {
    this.#lost ??= toMailFailure(error, this.#secrets);
    this.#wakeUp?.();
  }
}

function isInbox(path: string): boolean {
  return path.toUpperCase() === 'INBOX';
}

const FLOW_OPTIONS = {
  logger: false,
  disableAutoIdle: true,
  socketTimeout: 10 * 60_000,
  maxLineLength: MAX_LINE_BYTES,
  maxLiteralSize: MAX_LITERAL_BYTES,
  clientInfo: { name: 'sluice' },
} as const;

async function createFlow(access: ImapAccess, times: ImapTimes): Promise<ImapFlow> {
  const { ImapFlow: Flow } = await import('imapflow');
  const { host, port, security, user, secret } = access;
  return new Flow({
    host,
    port,
    secure: security === 'tls',
    ...(security === 'tls' ? {} : { doSTARTTLS: security === 'starttls' }),
    auth: secret.kind === 'token' ? { user, accessToken: secret.value } : { user, pass: secret.value },
    connectionTimeout: times.connectMs,
    greetingTimeout: times.connectMs,
    ...FLOW_OPTIONS,
  });
}

/** Codes of RFC 5530 that come with a refused login and pass by themselves. */
const PASSING = new Set(['UNAVAILABLE', 'INUSE', 'LIMIT', 'SERVERBUG']);

function loginFailure(error: unknown, access: ImapAccess, secrets: readonly string[]): MailFailure {
  if (error instanceof MailFailure) return error;
  const code = textField(error, 'serverResponseCode');
  if (field(error, 'authenticationFailed') === true && !PASSING.has(code ?? '')) {
    const said = describe(textField(error, 'responseText') ?? textField(error, 'response'), secrets);
    const words = said === undefined ? '' : `: ${said}`;
    return new MailFailure('authentication', `${access.host} refused the login of ${access.user}${words}`, {
      cause: error,
    });
  }
  const failure = toMailFailure(error, secrets);
  return new MailFailure(failure.kind, `${access.host}:${String(access.port)}: ${failure.message}`, {
    cause: error,
  });
}

/** @throws MailFailure where there is no such folder, or one that is not read */
function folderNamed(folder: string, listed: readonly ListResponse[]): ListResponse {
  const found = listed.find(({ path }) => path === folder || (isInbox(path) && isInbox(folder)));
  const name = JSON.stringify(folder);
  if (found === undefined) {
    const names = listed.map(({ path }) => path).slice(0, 20);
    throw new MailFailure('settings', `the account has no folder ${name}; it has ${names.join(', ')}`);
  }
  const leftOut = LEFT_OUT.get(found.specialUse ?? '');
  if (leftOut === undefined) return found;
  throw new MailFailure(
    'settings',
    `the folder ${name} holds ${leftOut}, which is not read; take it out of hooks.mail.folders`,
  );
}
