import type { MailBlock } from '../../engine/config/config.ts';
import { GOOGLE_ENDPOINTS, GoogleApi, type GoogleEndpoints } from './gmail-api.ts';
import { GmailSource } from './gmail-source.ts';
import { IMAP_TIMES, ImapClient, imapServer, type ImapAccess, type ImapTimes } from './imap-client.ts';
import { ImapSource } from './imap-source.ts';
import { defined } from '../../base/json.ts';
import { within } from '../../base/timers/timers.ts';
import { MailFailure, requirePackages } from './mail-failure.ts';
import { type MailProof, ownServers } from './mail-proof.ts';
import { bodiless } from './message-payload.ts';
import { AccessTokens } from './oauth.ts';
import type { MailSource } from './source.ts';

export interface MailSourceOptions {
  readonly imapTimes?: ImapTimes;
  readonly google?: GoogleEndpoints;
  readonly clock?: () => number;
  /** An access token, in place of the one that the file of the login leads to. */
  readonly token?: AccessTokens['get'];
  /** Called with every secret that came from outside, so that no log shows it. */
  readonly protect?: (secret: string) => void;
}

/** Opens the folders of one account; logins and tokens are shared by all of them. */
export type OpenFolder = (folder: string) => Promise<MailSource>;

const PACKAGES = ['postal-mime', 'html-to-text'];

/** How the folders of a mailbox are opened, by its kind. */
export function folderOpener(mail: MailBlock, options: MailSourceOptions = {}): OpenFolder {
  switch (mail.kind) {
    case 'imap': {
      const login = imapLogin(mail, options);
      return async (folder) => {
        requirePackages(['imapflow', ...PACKAGES]);
        return new ImapSource(await login(folder), { account: mail.account, folder });
      };
    }
    case 'gmail':
      return gmailOpener(mail, options);
  }
}

function gmailOpener(
  mail: Extract<MailBlock, { kind: 'gmail' }>,
  { clock, google = GOOGLE_ENDPOINTS, protect, token: given }: MailSourceOptions,
): OpenFolder {
  const get = given ?? tokensOf(mail.oauthFile, clock);
  const api = new GoogleApi(async (refused) => {
    const token = await get(refused);
    protect?.(token);
    return token;
  });
  return () => {
    requirePackages(['openid-client', ...PACKAGES]);
    const place = { topic: mail.topic, subscription: mail.subscription, labels: mail.folders };
    return GmailSource.open(api, place, { endpoints: google, ...(clock === undefined ? {} : { clock }) });
  };
}

/** Folders that are read together: of Gmail all labels, because their notices come over one subscription. */
export function readerFolders({ kind, folders }: MailBlock): readonly string[] {
  return kind === 'gmail' ? [folders.join(', ')] : folders;
}

type ImapBlock = Extract<MailBlock, { kind: 'imap' }>;

function imapLogin(
  mail: ImapBlock,
  { imapTimes = IMAP_TIMES, clock, protect, token }: MailSourceOptions,
): (folder: string) => Promise<ImapClient> {
  const { auth } = mail;
  const open: OpenWith = (secret, folder) => {
    protect?.(secret.value);
    const access = { ...imapServer(mail), secret };
    return ImapClient.open(access, { times: imapTimes, folder });
  };
  return auth.kind === 'password'
    ? (folder) => open({ kind: 'password', value: auth.password }, folder)
    : tokenLogin(token ?? tokensOf(auth.oauthFile, clock), open);
}

type OpenWith = (secret: ImapAccess['secret'], folder: string) => Promise<ImapClient>;

function tokensOf(file: string, clock?: () => number): AccessTokens['get'] {
  const tokens = new AccessTokens(file, clock);
  return (refused) => tokens.get(refused);
}

function tokenLogin(get: AccessTokens['get'], open: OpenWith): (folder: string) => Promise<ImapClient> {
  return async (folder) => {
    const token = await get();
    try {
      return await open({ kind: 'token', value: token }, folder);
    } catch (error) {
      if (!(error instanceof MailFailure) || error.kind !== 'authentication') throw error;
      // The server may have ended the token before its time.
      return open({ kind: 'token', value: await get(token) }, folder);
    }
  };
}

/** A folder that was opened. */
export interface MailboxFolder {
  readonly path: string;
  /** How many messages are there; absent where the interface does not say it. */
  readonly messages?: number;
  /** What is proved of its newest messages, where they were looked at. */
  readonly proofs: readonly MailProof[];
}

/**
 * Connects to the mailbox of a configuration, logs in and opens each folder, as its reader does, and leaves again; no
 * message is marked. With `pullMs`, notices of new mail are waited for once, for this long; with `newest`, so many
 * messages are looked at for what is proved of them.
 * @throws MailFailure that says what the server did not take; its message holds no secret
 */
export async function tryMailbox(
  mail: MailBlock,
  timeoutMs: number,
  { pullMs, newest = 0, ...options }: MailSourceOptions & { pullMs?: number; newest?: number } = {},
): Promise<readonly MailboxFolder[]> {
  const open = folderOpener(mail, { imapTimes: { connectMs: timeoutMs, callMs: timeoutMs }, ...options });
  const look = async (path: string): Promise<MailboxFolder> => {
    const source = await open(path);
    try {
      if (mail.kind === 'gmail' && pullMs !== undefined) await source.wait(pullMs, NEVER);
      const proofs: MailProof[] = [];
      for (const identity of newest > 0 ? await source.newest(newest) : []) {
        const found = await source.fetch(identity);
        if (found !== undefined) proofs.push((await bodiless(found, { own: ownServers(mail) })).proof);
      }
      return { path, proofs, ...defined({ messages: source.messages }) };
    } finally {
      source.close();
    }
  };
  const found: MailboxFolder[] = [];
  for (const folder of readerFolders(mail)) {
    // One connection at a time: servers limit them.
    const opened = await within(look(folder), timeoutMs);
    if (opened === undefined) throw new MailFailure('connection', `no answer within ${timeoutMs / 1000} s`);
    found.push(opened);
  }
  return mail.kind === 'gmail' ? mail.folders.map((path, at) => ({ proofs: [], ...found[at], path })) : found;
}

const NEVER = new AbortController().signal;
