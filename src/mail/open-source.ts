import type { MailBlock } from '../config/config.ts';
import { AccessTokens } from './oauth.ts';
import { IMAP_TIMES, ImapClient, type ImapAccess, type ImapTimes } from './imap-client.ts';
import { ImapSource } from './imap-source.ts';
import { MailFailure } from './mail-failure.ts';
import { requirePackages } from './optional-packages.ts';
import type { MailSource } from './source.ts';

export interface OpenOptions {
  readonly imapTimes?: ImapTimes;
  readonly clock?: () => number;
  /** Told of every secret that came from outside, so that no log shows it. */
  readonly protect?: (secret: string) => void;
}

/** Opens the folders of one account; logins and tokens are shared by all of them. */
export type OpenFolder = (folder: string, signal: AbortSignal) => Promise<MailSource>;

const PACKAGES = ['postal-mime', 'html-to-text'];

/** How the folders of a mailbox are opened, by its kind. */
export function folderOpener(mail: MailBlock, options: OpenOptions = {}): OpenFolder {
  switch (mail.kind) {
    case 'imap': {
      const login = imapLogin(mail, options);
      return async (folder) => {
        requirePackages(['imapflow', ...PACKAGES]);
        return new ImapSource(await login(folder), { account: mail.account, folder });
      };
    }
    case 'gmail':
      throw new MailFailure('settings', 'the Gmail API is not read yet; use kind: imap with OAuth2');
  }
}

type ImapBlock = Extract<MailBlock, { kind: 'imap' }>;

/** Connects and logs in; without a folder only that. */
export function imapLogin(
  mail: ImapBlock,
  { imapTimes = IMAP_TIMES, clock, protect }: OpenOptions = {},
): (folder?: string) => Promise<ImapClient> {
  const { host, security, auth } = mail;
  const server = {
    host,
    port: mail.port ?? (security === 'tls' ? 993 : 143),
    security,
    user: mail.user ?? mail.account,
  };
  const open = (secret: ImapAccess['secret'], folder: string | undefined): Promise<ImapClient> => {
    protect?.(secret.value);
    return ImapClient.open(
      { ...server, secret },
      { times: imapTimes, ...(folder === undefined ? {} : { folder }) },
    );
  };
  if (auth.kind === 'password') return (folder) => open({ kind: 'password', value: auth.password }, folder);
  const tokens = new AccessTokens(auth.oauthFile, clock);
  return async (folder) => {
    const token = await tokens.get();
    try {
      return await open({ kind: 'token', value: token }, folder);
    } catch (error) {
      if (!(error instanceof MailFailure) || error.kind !== 'authentication') throw error;
      // The server may have ended the token before its time.
      return open({ kind: 'token', value: await tokens.get(token) }, folder);
    }
  };
}
