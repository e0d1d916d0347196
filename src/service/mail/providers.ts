import type { OAUTH_PROVIDERS } from './oauth.ts';

/** Where a mailbox can be, and what it needs to be read. */
export interface MailProvider {
  readonly title: string;
  /** Absent where the operator names the server. */
  readonly host?: string;
  /** Ways to log in, the usual one first. */
  readonly auth: readonly ('password' | 'oauth2')[];
  readonly oauth?: keyof typeof OAUTH_PROVIDERS;
  /** What to do before, in one or two sentences. */
  readonly passwordHelp?: string;
  readonly oauthHelp?: string;
}

const GOOGLE_CLIENT =
  'Make an OAuth client of the type "Desktop app" in the Google Cloud console, under APIs & Services, Credentials.';

/** By the value of `--provider`. */
export const MAIL_PROVIDERS = {
  gmail: {
    title: 'Gmail (IMAP)',
    host: 'imap.gmail.com',
    auth: ['password', 'oauth2'],
    oauth: 'google',
    passwordHelp:
      'Gmail takes an app password: turn on 2-step verification, then make one at https://myaccount.google.com/apppasswords.',
    oauthHelp: GOOGLE_CLIENT,
  },
  outlook: {
    title: 'Outlook.com and Microsoft 365',
    host: 'outlook.office365.com',
    auth: ['oauth2'],
    oauth: 'microsoft',
    oauthHelp:
      'Microsoft takes no passwords here: register an app at https://entra.microsoft.com that allows public client flows and has the permission IMAP.AccessAsUser.All.',
  },
  fastmail: {
    title: 'Fastmail',
    host: 'imap.fastmail.com',
    auth: ['password'],
    passwordHelp: 'Make an app password with access to mail under Settings, Privacy & Security.',
  },
  icloud: {
    title: 'iCloud Mail',
    host: 'imap.mail.me.com',
    auth: ['password'],
    passwordHelp: 'Make an app-specific password at https://account.apple.com, under Sign-In and Security.',
  },
  yahoo: {
    title: 'Yahoo Mail',
    host: 'imap.mail.yahoo.com',
    auth: ['password'],
    passwordHelp: 'Make an app password under Account security at https://login.yahoo.com/account/security.',
  },
  'gmail-api': {
    title: 'Gmail (API with Pub/Sub)',
    host: 'gmail.googleapis.com',
    auth: ['oauth2'],
    oauth: 'google',
    oauthHelp: `${GOOGLE_CLIENT} In the same project, turn on the Gmail API, make a Pub/Sub topic with a subscription, and let gmail-api-push@system.gserviceaccount.com publish to the topic.`,
  },
  imap: { title: 'another IMAP server', auth: ['password'] },
} as const satisfies Record<string, MailProvider>;

export type MailProviderName = keyof typeof MAIL_PROVIDERS;
