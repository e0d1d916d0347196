import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { MailFailure } from './mail-failure.ts';

const text = z.string().min(1);

/** What is kept of an OAuth2 login. Only its owner may read the file: the refresh token opens the mailbox. */
const oauthFileSchema = z.object({
  version: z.literal(1),
  provider: z.enum(['google', 'microsoft', 'other']),
  clientId: text,
  /** Desktop clients of Google have one, which is no secret in the strict sense; those of Microsoft have none. */
  clientSecret: text.optional(),
  tokenEndpoint: z.url(),
  scope: text,
  refreshToken: text,
  accessToken: text.optional(),
  /** Milliseconds since the epoch. */
  expiresAt: z.number().optional(),
});

export type OAuthFile = z.output<typeof oauthFileSchema>;

/** @throws MailFailure where the file is not there or not one of ours */
export async function readOAuthFile(file: string): Promise<OAuthFile> {
  const failure = (what: string, remedy: string): MailFailure =>
    new MailFailure('settings', `the file of the OAuth2 login, ${file}, ${what}; ${remedy}`);
  let written: string;
  try {
    written = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const what = code === 'ENOENT' ? 'is not there' : `cannot be read (${code ?? 'unknown error'})`;
    throw failure(what, 'log in with "sluice webhooks mail setup"');
  }
  try {
    return oauthFileSchema.parse(JSON.parse(written));
  } catch {
    // What a JSON or schema error says may quote a token.
    throw failure('is damaged', 'log in again with "sluice webhooks mail setup"');
  }
}

/** Writes a file that only its owner may read; a crash leaves the old or the new one, never a part. */
export async function writeSecretFile(file: string, content: string): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const next = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(next, content, { mode: 0o600, flag: 'wx', flush: true });
    await chmod(next, 0o600);
    await rename(next, file);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

export function writeOAuthFile(file: string, content: OAuthFile): Promise<void> {
  return writeSecretFile(file, `${JSON.stringify(content, undefined, 2)}\n`);
}
