export interface MailProvider {
  readonly host?: string;
  readonly auth: readonly ('password' | 'oauth2')[];
}

export const MAIL_PROVIDERS = {
  gmail: { host: 'imap.gmail.com', auth: ['password', 'oauth2'] },
  outlook: { host: 'outlook.office365.com', auth: ['oauth2'] },
  fastmail: { host: 'imap.fastmail.com', auth: ['password'] },
  icloud: { host: 'imap.mail.me.com', auth: ['password'] },
  yahoo: { host: 'imap.mail.yahoo.com', auth: ['password'] },
  'gmail-api': { auth: ['oauth2'] },
  imap: { auth: ['password'] },
} as const satisfies Record<string, MailProvider>;

export type MailProviderName = keyof typeof MAIL_PROVIDERS;
