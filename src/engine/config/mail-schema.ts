import * as z from 'zod';
import { resolve } from 'node:path';
import { secretSchema } from './runner-schema.ts';
import { text, whole } from './schema-values.ts';
import { quoted, say } from '../../base/finding.ts';
import { fromZodError } from '../../base/document/document.ts';
import { isLoopback } from '../../base/address.ts';
import type { ConfigReporter } from './reporter.ts';

/** Name and domain of an address are at most 64 and 255 characters long (RFC 5321, section 4.5.3.1). */
const account = z.string().min(1).max(320).describe('The address of the mailbox.');

const hookName = z
  .string()
  .regex(/^[\w.~-]+(?:\/[\w.~-]+)*$/, { error: 'a hook name such as mail' })
  .max(200);

const base = {
  version: z.literal(1).describe('Version of this block; another one is ignored.'),
  account,
  run: z
    .boolean()
    .default(true)
    .describe('Whether `sluice serve` reads the mailbox; `sluice webhooks mail run` always does.'),
  path: hookName.default('mail').describe('Hook name the messages are delivered to.'),
  folders: z
    .array(text.max(500))
    .min(1)
    .max(8)
    .default(['INBOX'])
    .describe('Folders (Gmail API: labels) that are read, each by a connection of its own.'),
  from: z
    .array(text.max(320))
    .max(100)
    .default([])
    .describe('Only mail from these addresses or, with a leading @, domains; empty takes all.'),
  subject: z
    .array(text.max(500))
    .max(100)
    .default([])
    .describe('Only mail whose subject contains one of these texts; empty takes all.'),
  accept: z
    .enum(['verified', 'asserted', 'any'])
    .default('any')
    .describe('What has to be proved of who wrote a mail; what does not reach it is set aside.'),
  authServers: z
    .array(text.max(255))
    .max(20)
    .default([])
    .describe('Names under which its server writes Authentication-Results; `*.` is any name before it.'),
  since: z.iso
    .date({ error: 'a date such as "2026-11-01"' })
    .optional()
    .describe('Where the first run begins; default with the mail that arrives from then on.'),
  maxBodyChars: whole(0, 1_000_000)
    .default(20_000)
    .describe('Longest body that is delivered, in characters; 0 leaves bodies out.'),
};

const oauthFile = text
  .default('.sluice/mail-oauth.json')
  .describe('File in which the OAuth2 tokens are kept; written by `mail setup`.');

const passwordSchema = z.strictObject({
  kind: z.literal('password'),
  password: secretSchema.describe('The password, most often an app password.'),
});

const oauthSchema = z.strictObject({ kind: z.literal('oauth2'), oauthFile });

const imapSchema = z.strictObject({
  kind: z.literal('imap'),
  ...base,
  host: text.max(253).describe('Name of the IMAP server.'),
  port: whole(1, 65_535)
    .optional()
    .describe('Port of the IMAP server; default 993, without TLS from the start 143.'),
  security: z
    .enum(['tls', 'starttls', 'none'])
    .default('tls')
    .describe('How the connection is encrypted; none only to this machine.'),
  user: text.max(320).optional().describe('Name to log in with; default the account.'),
  auth: z
    .discriminatedUnion('kind', [passwordSchema, oauthSchema])
    .describe('How the service proves itself to the server.'),
});

const pushSchema = z.strictObject({
  path: hookName
    .default('mail-push')
    .describe('Hook name that the push subscription calls; carries no mail.'),
  audience: text.max(2000).describe('Audience that the push subscription is set up with.'),
  serviceAccount: z
    .string()
    .regex(/^[^\s@]+@[^\s@]+$/, { error: 'the address of a service account' })
    .max(320)
    .describe('Service account in whose name Pub/Sub calls.'),
});

const gmailSchema = z
  .strictObject({
    kind: z.literal('gmail'),
    ...base,
    topic: z
      .string()
      .regex(/^projects\/[^/\s]+\/topics\/[^/\s]+$/, { error: 'a name such as projects/P/topics/T' })
      .describe('Pub/Sub topic that Gmail publishes to.'),
    subscription: z
      .string()
      .regex(/^projects\/[^/\s]+\/subscriptions\/[^/\s]+$/, {
        error: 'a name such as projects/P/subscriptions/S',
      })
      .optional()
      .describe('Pull subscription of the topic; leave it out where push is set.'),
    push: pushSchema.optional().describe('How Pub/Sub calls this service, in place of a pull subscription.'),
    oauthFile,
  })
  .refine(({ subscription, push }) => (subscription === undefined) !== (push === undefined), {
    error: 'needs either subscription, to pull notices of new mail, or push, to be called',
    when: () => true,
  });

/** `hooks.mail` of version 1, as `sluice webhooks mail setup` writes it. */
export const mailSchema = z.discriminatedUnion('kind', [imapSchema, gmailSchema]);

/** `hooks.mail`, checked, with its defaults. */
export type MailBlock = z.output<typeof mailSchema>;

/** The version of `hooks.mail` that this service reads and `mail setup` writes. */
const VERSION = 1;

/** For findings that name the whole path of a key. */
const placedSchema = z.object({ hooks: z.object({ mail: mailSchema }) });

/** Reads `hooks.mail`; undefined where there is none, where it is of another version, or where it has errors. */
export function resolveMail(
  block: Readonly<Record<string, unknown>> | undefined,
  { reporter, directory }: { readonly reporter: ConfigReporter; readonly directory: string },
): MailBlock | undefined {
  if (block === undefined) return undefined;
  if (block['version'] !== VERSION) {
    reportVersion(reporter);
    return undefined;
  }
  const parsed = placedSchema.safeParse({ hooks: { mail: block } });
  if (!parsed.success) {
    reporter.add(fromZodError(parsed.error, reporter.root, placedSchema));
    return undefined;
  }
  const { mail } = parsed.data.hooks;
  reportUnencrypted(mail, reporter);
  if (reporter.root.at(['hooks', 'mail', 'accept']).value === undefined) reportUnproved(reporter);
  return withPaths(mail, directory);
}

function reportVersion(reporter: ConfigReporter): void {
  reporter.report('MAIL_BLOCK_IGNORED', ['hooks', 'mail'], {
    key: true,
    severity: 'warning',
    message: say`hooks.mail is not of version ${String(VERSION)}: no mailbox is read`,
    hint: say`write it again with "sluice webhooks mail setup"`,
  });
}

/** A block that is going to be written, or what is wrong with it. */
export function parseMailBlock(block: Readonly<Record<string, unknown>>): MailBlock | string {
  const parsed = mailSchema.safeParse(block);
  if (parsed.success)
    return isUnencrypted(parsed.data) ? `${clearText(parsed.data)}; ${UNENCRYPTED_HINT}` : parsed.data;
  const [issue] = parsed.error.issues;
  return `${['hooks', 'mail', ...(issue?.path ?? [])].join('.')}: ${issue?.message ?? 'not as it has to be'}`;
}

function clearText({ host }: { readonly host: string }): string {
  return `the password would go to ${host.slice(0, 80)} in clear text`;
}

const UNENCRYPTED_HINT = 'set security to tls, or to starttls where the server has no port for TLS';

/** A password in clear text must not leave the machine. */
function isUnencrypted(mail: MailBlock): mail is Extract<MailBlock, { kind: 'imap' }> {
  return mail.kind === 'imap' && mail.security === 'none' && !isLoopback(mail.host);
}

function reportUnencrypted(mail: MailBlock, reporter: ConfigReporter): void {
  if (!isUnencrypted(mail)) return;
  reporter.report('UNENCRYPTED_MAIL', ['hooks', 'mail', 'security'], {
    message: quoted(clearText(mail)),
    hint: quoted(UNENCRYPTED_HINT),
  });
}

function reportUnproved(reporter: ConfigReporter): void {
  reporter.report('UNPROVED_MAIL', ['hooks', 'mail'], {
    key: true,
    severity: 'warning',
    message: say`mail starts runs whether or not it is proved who wrote it: anybody can write any From`,
    hint: say`write "accept: verified" into hooks.mail ("sluice webhooks mail setup" says what this mailbox can prove), or "accept: any" where that is meant`,
  });
}

function withPaths(mail: MailBlock, directory: string): MailBlock {
  if (mail.kind === 'gmail') return { ...mail, oauthFile: resolve(directory, mail.oauthFile) };
  if (mail.auth.kind === 'password') return mail;
  return { ...mail, auth: { ...mail.auth, oauthFile: resolve(directory, mail.auth.oauthFile) } };
}
