import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { defined } from '../../base/json.ts';
import type { Configuration, ServerMetadata, TokenEndpointResponse } from 'openid-client';
import { connectionCode, describe, field, textField } from '../../base/outgoing/outgoing.ts';
import { writeSecretFile } from '../../base/write-file.ts';
import { isLoopback } from '../../base/address.ts';
import { MailFailure, requirePackages } from './mail-failure.ts';

export interface OAuthEndpoints {
  readonly issuer: string;
  readonly authorization: string;
  readonly token: string;
  /** Absent where the provider gives no mail scopes to devices. */
  readonly device?: string;
}

/** Google's and Microsoft's own documentation of OAuth2 for IMAP and for installed applications. */
export const OAUTH_PROVIDERS = {
  google: {
    endpoints: {
      issuer: 'https://accounts.google.com',
      authorization: 'https://accounts.google.com/o/oauth2/v2/auth',
      token: 'https://oauth2.googleapis.com/token',
    },
    scopes: {
      imap: 'https://mail.google.com/',
      gmail: 'https://www.googleapis.com/auth/gmail.readonly https://www.googleapis.com/auth/pubsub',
      gmailPush: 'https://www.googleapis.com/auth/gmail.readonly',
    },
  },
  microsoft: {
    endpoints: {
      issuer: 'https://login.microsoftonline.com/common/v2.0',
      authorization: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
      token: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
      device: 'https://login.microsoftonline.com/common/oauth2/v2.0/devicecode',
    },
    scopes: {
      imap: 'offline_access https://outlook.office.com/IMAP.AccessAsUser.All',
      gmail: '',
      gmailPush: '',
    },
  },
} as const satisfies Record<string, { readonly endpoints: OAuthEndpoints; readonly scopes: OAuthScopes }>;

/** What a login may do; without a pull subscription nothing of Pub/Sub. */
export interface OAuthScopes {
  readonly imap: string;
  readonly gmail: string;
  readonly gmailPush: string;
}

export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
}

const CALL_TIMEOUT_SECONDS = 30;

type KnownEndpoints = Pick<OAuthEndpoints, 'token'> & Partial<OAuthEndpoints>;

export async function oauthConfiguration(
  endpoints: KnownEndpoints,
  { clientId, clientSecret }: OAuthClient,
): Promise<Configuration> {
  requirePackages(['openid-client']);
  const oauth = await import('openid-client');
  const authentication = clientSecret === undefined ? oauth.None() : oauth.ClientSecretPost(clientSecret);
  const configuration = new oauth.Configuration(serverMetadata(endpoints), clientId, {}, authentication);
  configuration.timeout = CALL_TIMEOUT_SECONDS;
  // A token may go in clear text to this machine only.
  const { protocol, hostname } = new URL(endpoints.token);
  if (protocol === 'http:' && isLoopback(hostname)) oauth.allowInsecureRequests(configuration);
  return configuration;
}

function serverMetadata({ issuer, authorization, token, device }: KnownEndpoints): ServerMetadata {
  return {
    issuer: issuer ?? new URL(token).origin,
    token_endpoint: token,
    ...defined({ authorization_endpoint: authorization, device_authorization_endpoint: device }),
  };
}

const RENEW_EARLY_MS = 120_000;

/** Access tokens of one login, renewed when their time is over and written back where the provider gave new ones. */
export class AccessTokens {
  readonly #file: string;
  readonly #clock: () => number;
  #asking: Promise<string> | undefined;

  constructor(file: string, clock: () => number = Date.now) {
    this.#file = file;
    this.#clock = clock;
  }

  /**
   * A token that holds for some minutes. `refused` is one the server did not take: another one is fetched then.
   * @throws MailFailure of kind `authentication` where the login is over, `connection` where nobody can be asked
   */
  async get(refused?: string): Promise<string> {
    while (this.#asking !== undefined) {
      const token = await this.#asking;
      // The question may have begun before this token was refused.
      if (token !== refused) return token;
    }
    this.#asking = this.#getOnce(refused).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #getOnce(refused: string | undefined): Promise<string> {
    const login = await readOAuthFile(this.#file);
    const { accessToken, expiresAt = 0 } = login;
    const isFresh = expiresAt - RENEW_EARLY_MS > this.#clock();
    if (accessToken !== undefined && accessToken !== refused && isFresh) return accessToken;
    return this.#renew(login);
  }

  async #renew(login: OAuthFile): Promise<string> {
    const { tokenEndpoint, clientId, clientSecret, refreshToken } = login;
    const configuration = await oauthConfiguration({ token: tokenEndpoint }, { clientId, clientSecret });
    const oauth = await import('openid-client');
    let answer: TokenEndpointResponse;
    try {
      answer = await oauth.refreshTokenGrant(configuration, refreshToken);
    } catch (error) {
      throw oauthFailure(error, [refreshToken, clientSecret ?? '', login.accessToken ?? '']);
    }
    await writeOAuthFile(this.#file, withTokens(login, answer, this.#clock()));
    return answer.access_token;
  }
}

const NO_REFRESH_TOKEN =
  'the provider gave no refresh token, so the login would end within the hour; remove the access of this application from the account and log in again';

/** The login with the tokens of an answer; a provider that sends no new refresh token means the old one to stay. */
export function withTokens(
  login: Omit<OAuthFile, 'refreshToken'> & { readonly refreshToken?: string },
  answer: TokenEndpointResponse,
  nowMs: number,
): OAuthFile {
  const refreshToken = answer.refresh_token ?? login.refreshToken;
  if (refreshToken === undefined) throw new MailFailure('authentication', NO_REFRESH_TOKEN);
  return {
    ...login,
    refreshToken,
    accessToken: answer.access_token,
    expiresAt: nowMs + (answer.expires_in ?? 0) * 1000,
  };
}

/** Errors of RFC 6749, section 5.2, after which only a person can help. */
const OVER = new Set([
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'access_denied',
  'invalid_scope',
  'expired_token',
]);

export function oauthFailure(error: unknown, secrets: readonly string[]): MailFailure {
  const code = textField(error, 'error') ?? textField(field(error, 'cause'), 'error');
  if (code !== undefined && OVER.has(code)) {
    const said = describe(
      textField(error, 'error_description') ?? textField(field(error, 'cause'), 'error_description'),
      secrets,
    );
    return new MailFailure(
      'authentication',
      `the OAuth2 login is refused (${code})${said === undefined ? '' : `: ${said}`}`,
      { cause: error },
    );
  }
  const reason =
    connectionCode(error) ?? code ?? describe(textField(error, 'message'), secrets) ?? 'unknown error';
  return new MailFailure('connection', `the OAuth2 provider cannot be asked: ${reason}`, { cause: error });
}

const text = z.string().min(1);

/** The file of an OAuth2 login. Only its owner may read it: the refresh token opens the mailbox. */
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

export function writeOAuthFile(file: string, content: OAuthFile): Promise<void> {
  return writeSecretFile(file, `${JSON.stringify(content, undefined, 2)}\n`);
}
