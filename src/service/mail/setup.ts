import { defined } from '../../base/json.ts';
import type { Edit } from '../../base/document/document.ts';
import { GOOGLE_ENDPOINTS, GoogleApi, type GoogleEndpoints } from './gmail-api.ts';
import { GmailSource } from './gmail-source.ts';
import { ImapClient, imapServer, type ImapAccess, type ImapPlace } from './imap-client.ts';
import { requirePackages } from './mail-failure.ts';

/** `hooks.mail` as it is written: without what equals a default. */
export type WrittenBlock = Readonly<Record<string, unknown>>;

export interface SetupAnswers extends ImapPlace {
  readonly kind: 'imap' | 'gmail';
  readonly auth: 'password' | 'oauth2';
  readonly folders?: readonly string[] | undefined;
  readonly from?: readonly string[] | undefined;
  readonly subject?: readonly string[] | undefined;
  readonly since?: string | undefined;
  readonly path?: string | undefined;
  /** Of Pub/Sub, for the Gmail API. */
  readonly topic?: string | undefined;
  readonly subscription?: string | undefined;
  readonly push?: { readonly audience: string; readonly serviceAccount: string } | undefined;
}

/** Files of secrets, relative to the configuration. */
export const PASSWORD_FILE = '.sluice/mail-password';
export const OAUTH_FILE = '.sluice/mail-oauth.json';

/** The block for these answers. Secrets are named, never part of it. */
export function writtenBlock(answers: SetupAnswers): WrittenBlock {
  const { kind, account, folders, from, subject, since, path } = answers;
  return {
    version: 1,
    kind,
    account,
    ...(kind === 'gmail' ? gmailKeys(answers) : imapKeys(answers)),
    ...(folders === undefined ? {} : { folders: [...folders] }),
    ...(from === undefined ? {} : { from: [...from] }),
    ...(subject === undefined ? {} : { subject: [...subject] }),
    ...defined({ since, path }),
  };
}

function imapKeys({ account, host, port, security, user, auth }: SetupAnswers): WrittenBlock {
  return {
    host,
    ...(port === undefined ? {} : { port }),
    ...(security === undefined || security === 'tls' ? {} : { security }),
    ...(user === undefined || user === account ? {} : { user }),
    auth:
      auth === 'password'
        ? { kind: 'password', password: { file: PASSWORD_FILE } }
        : { kind: 'oauth2', oauthFile: OAUTH_FILE },
  };
}

function gmailKeys({ topic, subscription, push }: SetupAnswers): WrittenBlock {
  return { topic, ...(push === undefined ? { subscription } : { push }), oauthFile: OAUTH_FILE };
}

/** What has to change in a configuration so that it holds the block and enables the preset. */
export function setupEdits(
  block: WrittenBlock,
  { mail, presets }: { readonly mail: unknown; readonly presets: unknown },
): readonly Edit[] {
  const preset = presetEdits(presets);
  if (!isSameKind(mail, block)) return [{ path: ['hooks', 'mail'], value: block }, ...preset];
  if (CONNECTION_KEYS.some((key) => key in mail && !(key in block))) {
    // What was tested has to be what is written: a port of another server must not stay.
    const kept = Object.entries(mail).filter(([key]) => !CONNECTION_KEYS.includes(key));
    return [{ path: ['hooks', 'mail'], value: { ...Object.fromEntries(kept), ...block } }, ...preset];
  }
  // Key by key, so that comments inside the block stay.
  const keys = Object.keys(block).filter((key) => JSON.stringify(mail[key]) !== JSON.stringify(block[key]));
  return [...keys.map((key): Edit => ({ path: ['hooks', 'mail', key], value: block[key] })), ...preset];
}

function presetEdits(presets: unknown): readonly Edit[] {
  const names = Array.isArray(presets) ? (presets as unknown[]) : [];
  if (names.includes('mail') || names.includes('gmail')) return [];
  return [{ path: ['hooks', 'presets'], value: [...names, 'mail'] }];
}

/** Keys that say where the mailbox is and how it is opened; without one of them its default holds. */
const CONNECTION_KEYS: readonly string[] = ['port', 'security', 'user', 'subscription', 'push'];

function isSameKind(mail: unknown, block: WrittenBlock): mail is Readonly<Record<string, unknown>> {
  if (typeof mail !== 'object' || mail === null) return false;
  const { version, kind } = mail as Record<string, unknown>;
  return version === block['version'] && kind === block['kind'];
}

/** What the server says of a mailbox. */
export interface MailboxCheck {
  /** Without a count where the interface gives none. */
  readonly folders: readonly { readonly path: string; readonly messages?: number }[];
}

/**
 * Connects, logs in and opens every folder.
 * @throws MailFailure that says what the server did not take
 */
export async function checkMailbox(
  answers: SetupAnswers,
  secret: ImapAccess['secret'],
  google: GoogleEndpoints = GOOGLE_ENDPOINTS,
): Promise<MailboxCheck> {
  if (answers.kind === 'gmail') return checkGmail(answers, secret.value, google);
  requirePackages(['imapflow', 'postal-mime', 'html-to-text']);
  const access: ImapAccess = { ...imapServer(answers), secret };
  const folders: { path: string; messages: number }[] = [];
  for (const folder of answers.folders ?? ['INBOX']) {
    const client = await ImapClient.open(access, { folder });
    folders.push({ path: folder, messages: client.mailbox.exists });
    client.close();
  }
  return { folders };
}

/** Finds the labels, starts the watch, and pulls once. */
async function checkGmail(
  { folders = ['INBOX'], topic = '', subscription }: SetupAnswers,
  token: string,
  endpoints: GoogleEndpoints,
): Promise<MailboxCheck> {
  requirePackages(['openid-client', 'postal-mime', 'html-to-text']);
  const api = new GoogleApi(() => Promise.resolve(token));
  const source = await GmailSource.open(api, { topic, subscription, labels: folders }, { endpoints });
  try {
    await source.wait(PULL_CHECK_MS, new AbortController().signal);
  } finally {
    source.close();
  }
  return { folders: folders.map((path) => ({ path })) };
}

/** A subscription that cannot be pulled is refused at once. */
const PULL_CHECK_MS = 3_000;
