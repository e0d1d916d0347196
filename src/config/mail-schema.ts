import * as z from 'zod';
import { secretSchema } from './runner-schema.ts';
import { text } from './schema-values.ts';

/** Name and domain of an address are at most 64 and 255 characters long (RFC 5321, section 4.5.3.1). */
const account = z.string().min(1).max(320).meta({ description: 'The address of the mailbox.' });

const hookName = z
  .string()
  .regex(/^[\w.~-]+(?:\/[\w.~-]+)*$/, { error: 'a hook name such as mail' })
  .max(200);

const base = {
  version: z.literal(1).meta({ description: 'Version of this block; another one is ignored.' }),
  account,
  run: z.boolean().default(true).meta({
    description: 'Whether `sluice serve` reads the mailbox; `sluice webhooks mail run` always does.',
  }),
  path: hookName.default('mail').meta({ description: 'Hook name the messages are delivered to.' }),
  folders: z
    .array(text.max(500))
    .min(1)
    .max(8)
    .default(['INBOX'])
    .meta({ description: 'Folders (Gmail API: labels) that are read, each by a connection of its own.' }),
  from: z
    .array(text.max(320))
    .max(100)
    .default([])
    .meta({ description: 'Only mail from these addresses or, with a leading @, domains; empty takes all.' }),
  subject: z
    .array(text.max(500))
    .max(100)
    .default([])
    .meta({ description: 'Only mail whose subject contains one of these texts; empty takes all.' }),
  since: z.iso
    .date({ error: 'a date such as "2026-11-01"' })
    .optional()
    .meta({ description: 'Where the first run begins; default with the mail that arrives from then on.' }),
  maxBodyChars: z
    .number()
    .int()
    .min(0)
    .max(1_000_000)
    .default(20_000)
    .meta({ description: 'Longest body that is delivered, in characters; 0 leaves bodies out.' }),
};

const oauthFile = text
  .default('.sluice/mail-oauth.json')
  .meta({ description: 'File in which the OAuth2 tokens are kept; written by `mail setup`.' });

const passwordSchema = z.strictObject({
  kind: z.literal('password'),
  password: secretSchema.meta({ description: 'The password, most often an app password.' }),
});

const oauthSchema = z.strictObject({ kind: z.literal('oauth2'), oauthFile });

const imapSchema = z.strictObject({
  kind: z.literal('imap'),
  ...base,
  host: text.max(253).meta({ description: 'Name of the IMAP server.' }),
  port: z
    .number()
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .meta({ description: 'Port of the IMAP server; default 993, without TLS from the start 143.' }),
  security: z
    .enum(['tls', 'starttls', 'none'])
    .default('tls')
    .meta({ description: 'How the connection is encrypted; none only to this machine.' }),
  user: text.max(320).optional().meta({ description: 'Name to log in with; default the account.' }),
  auth: z
    .discriminatedUnion('kind', [passwordSchema, oauthSchema])
    .meta({ description: 'How the service proves itself to the server.' }),
});

const pushSchema = z.strictObject({
  path: hookName
    .default('mail-push')
    .meta({ description: 'Hook name that the push subscription calls; carries no mail.' }),
  audience: text.max(2000).meta({ description: 'Audience that the push subscription is set up with.' }),
  serviceAccount: z
    .string()
    .regex(/^[^\s@]+@[^\s@]+$/, { error: 'the address of a service account' })
    .max(320)
    .meta({ description: 'Service account in whose name Pub/Sub calls.' }),
});

const gmailSchema = z
  .strictObject({
    kind: z.literal('gmail'),
    ...base,
    topic: z
      .string()
      .regex(/^projects\/[^/\s]+\/topics\/[^/\s]+$/, { error: 'a name such as projects/P/topics/T' })
      .meta({ description: 'Pub/Sub topic that Gmail publishes to.' }),
    subscription: z
      .string()
      .regex(/^projects\/[^/\s]+\/subscriptions\/[^/\s]+$/, {
        error: 'a name such as projects/P/subscriptions/S',
      })
      .optional()
      .meta({ description: 'Pull subscription of the topic; leave it out where push is set.' }),
    push: pushSchema.optional().meta({
      description: 'How Pub/Sub calls this service, in place of a pull subscription.',
    }),
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
