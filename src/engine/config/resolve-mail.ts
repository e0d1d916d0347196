import { quoted, say } from '../../base/finding.ts';
import { resolve } from 'node:path';
import * as z from 'zod';
import { fromZodError } from '../../base/document/document.ts';
import { isLoopback } from './loopback.ts';
import { mailSchema, type MailBlock } from './mail-schema.ts';
import type { Reporter } from './reporter.ts';

/** The version of `hooks.mail` that this service reads and `mail setup` writes. */
const VERSION = 1;

/** For findings that name the whole path of a key. */
const placedSchema = z.object({ hooks: z.object({ mail: mailSchema }) });

/** Reads `hooks.mail`; undefined where there is none, where it is of another version, or where it has errors. */
export function resolveMail(
  block: Readonly<Record<string, unknown>> | undefined,
  { reporter, directory }: { readonly reporter: Reporter; readonly directory: string },
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
  return withPaths(mail, directory);
}

function reportVersion(reporter: Reporter): void {
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

function reportUnencrypted(mail: MailBlock, reporter: Reporter): void {
  if (!isUnencrypted(mail)) return;
  reporter.report('UNENCRYPTED_MAIL', ['hooks', 'mail', 'security'], {
    message: quoted(clearText(mail)),
    hint: quoted(UNENCRYPTED_HINT),
  });
}

function withPaths(mail: MailBlock, directory: string): MailBlock {
  if (mail.kind === 'gmail') return { ...mail, oauthFile: resolve(directory, mail.oauthFile) };
  if (mail.auth.kind === 'password') return mail;
  return { ...mail, auth: { ...mail.auth, oauthFile: resolve(directory, mail.auth.oauthFile) } };
}
