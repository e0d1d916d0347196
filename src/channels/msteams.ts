import type { Client } from '@microsoft/teams.api';
import { z } from 'zod';
import type { ChannelAdapter, ChannelMessage, SendResult } from './channel.ts';
import { commonShape, defineChannel, isHttpUrl, secretText } from './define.ts';
import { describe, fetchJson, field, parseRetryAfter } from '../outgoing/outgoing.ts';
import {
  beforeSending,
  bounded,
  failedCheck,
  failureOf,
  notSent,
  refusal,
  SEND_TIMEOUT_MS,
  type SendFailure,
  unreadable,
} from './send-failure.ts';

/** Teams takes about 28 KB per message with its own markup. */
const MAX_CHARS = 4000;
const SERVICE_URL = 'https://smba.trafficmanager.net/teams';
const LOGIN_URL = 'https://login.microsoftonline.com';
const SCOPE = 'https://api.botframework.com/.default';
const REMEDY = 'check channels.msteams.appId, appPassword and tenantId';
/** A token is renewed this long before it expires. */
const TOKEN_MARGIN_MS = 300_000;

const url = z
  .string('must be text')
  .refine(isHttpUrl, 'must be an absolute http or https URL')
  .transform((text) => text.replace(/\/+$/, ''));
const schema = z.strictObject({
  ...commonShape,
  appId: secretText,
  appPassword: z
    .string({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be text') })
    .min(1, 'must not be empty'),
  tenantId: secretText,
  serviceUrl: url.optional(),
  loginUrl: url.optional(),
});
type TeamsSettings = z.output<typeof schema>;

/** Microsoft Teams: proactive messages of a bot through the Bot Connector. */
export const msteams = defineChannel({
  id: 'msteams',
  packages: ['@microsoft/teams.api'],
  schema,
  recipientProblem: (to) =>
    parseRecipient(to) === undefined
      ? 'a Teams recipient is a conversation id, such as 19:…@thread.v2 or a:1…'
      : undefined,
  open: async (settings) => {
    const sdk = await import('@microsoft/teams.api');
    const serviceUrl = settings.baseUrl ?? settings.serviceUrl ?? SERVICE_URL;
    const makeClient = (token: string, signal: AbortSignal): Client =>
      new sdk.Client(serviceUrl, {
        token,
        timeout: SEND_TIMEOUT_MS,
        logger: silentLogger,
        middlewares: [
          {
            invoke: async (context, next) => {
              const headers = { ...context.config.headers, connection: 'close' };
              const limits = { maxRedirects: 0, maxContentLength: 1_000_000 };
              Object.assign(context.config, { ...limits, headers, signal });
              return next();
            },
          },
        ],
      });
    return makeAdapter(settings, new TokenSource(settings), makeClient);
  },
});

function makeAdapter(
  settings: TeamsSettings,
  tokens: TokenSource,
  makeClient: (token: string, signal: AbortSignal) => Client,
): ChannelAdapter {
  return {
    id: 'msteams',
    maxChars: MAX_CHARS,
    check: async (signal) => {
      const token = await tokens.mint(bounded(signal));
      return typeof token === 'string' ? { ok: true, account: settings.appId } : failedCheck(token);
    },
    send: async (message, signal) => {
      const conversationId = parseRecipient(message.to);
      if (conversationId === undefined) {
        return { kind: 'failed', code: 'bad_recipient', message: 'the recipient is no Teams conversation' };
      }
      if (signal.aborted) return notSent();
      const within = bounded(signal);
      const token = await tokens.get(within);
      if (typeof token !== 'string') return beforeSending(token);
      const result = await create(makeClient(token, within), conversationId, message);
      if (result.kind === 'failed' && result.code === 'unauthorized') tokens.forget();
      return result;
    },
  };
}

async function create(client: Client, conversationId: string, message: ChannelMessage): Promise<SendResult> {
  try {
    const sent = await client.conversations.activities(conversationId).create({
      type: 'message',
      text: message.text,
      textFormat: message.plain ? 'plain' : 'markdown',
    });
    const id = field(sent, 'id');
    return typeof id === 'string' ? { kind: 'sent', messageId: id } : unreadable('Teams');
  } catch (error) {
    return teamsFailure(error);
  }
}

/** The failure behind an error of the SDK's transport (axios). */
function teamsFailure(error: unknown): SendFailure {
  const response = field(error, 'response');
  const status = field(response, 'status');
  if (typeof status === 'number' && status >= 300) {
    const retryAfter = field(field(response, 'headers'), 'retry-after');
    // 412 is a conflict inside Teams that its documentation asks to repeat.
    return refusal('Teams', status === 412 ? 503 : status, {
      description: describe(field(field(field(response, 'data'), 'error'), 'message'), []),
      retryAfterMs: parseRetryAfter(typeof retryAfter === 'string' ? retryAfter : undefined),
      remedy: status === 403 ? 'install the app in that conversation' : REMEDY,
    });
  }
  if (field(error, 'code') === 'ERR_CANCELED' || field(error, 'code') === 'ECONNABORTED') {
    return { kind: 'ambiguous', code: 'timeout', message: 'Teams did not answer in time' };
  }
  return failureOf(error, 'Teams');
}

/** Keeps the app's access token (client credentials) until shortly before it expires. */
class TokenSource {
  readonly #settings: TeamsSettings;
  #token = '';
  #renewAt = 0;

  constructor(settings: TeamsSettings) {
    this.#settings = settings;
  }

  /** The current token, minted anew where it is used up. */
  async get(signal: AbortSignal): Promise<string | SendFailure> {
    return Date.now() < this.#renewAt ? this.#token : this.mint(signal);
  }

  forget(): void {
    this.#renewAt = 0;
  }

  async mint(signal: AbortSignal): Promise<string | SendFailure> {
    const { appId, appPassword, baseUrl, loginUrl, tenantId } = this.#settings;
    const login = loginUrl ?? baseUrl ?? LOGIN_URL;
    try {
      const answer = await fetchJson(`${login}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`, {
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: appId,
          client_secret: appPassword,
          scope: SCOPE,
        }),
        signal,
      });
      const token = field(answer.body, 'access_token');
      const lifetime = Number(field(answer.body, 'expires_in') ?? 0) * 1000;
      if (answer.status >= 300 || typeof token !== 'string') {
        const description = describe(field(answer.body, 'error_description') ?? field(answer.body, 'error'), [
          appPassword,
        ]);
        // Wrong credentials are answered 400 (RFC 6749, section 5.2) as well as 401.
        const status = answer.status === 429 ? 429 : 401;
        return refusal('Microsoft', status, {
          description,
          retryAfterMs: answer.retryAfterMs,
          remedy: REMEDY,
        });
      }
      this.#token = token;
      this.#renewAt = Date.now() + Math.max(lifetime - TOKEN_MARGIN_MS, 0);
      return token;
    } catch (error) {
      return failureOf(error, 'Microsoft');
    }
  }
}

function parseRecipient(to: string): string | undefined {
  const match = /^(?:msteams:|teams:)?(?:conversation:)?((?:19:|a:|\d{1,2}:|f:)[^\s]{4,400})$/.exec(
    to.trim(),
  );
  return match?.[1];
}

const silentLogger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  trace: () => undefined,
  log: () => undefined,
  child: () => silentLogger,
};
