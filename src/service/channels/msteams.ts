import type * as teamsSdk from '@microsoft/teams.api';
import * as z from 'zod';
import type { SendResult } from './channel.ts';
import {
  type AddressedMessage,
  commonShape,
  defineChannel,
  isHttpUrl,
  secretText,
} from './define-channel.ts';
import {
  describe,
  fetchJson,
  field,
  type JsonAnswer,
  parseRetryAfter,
  textField,
} from '../../base/outgoing/outgoing.ts';
import {
  failureOf,
  prepare,
  PreparationError,
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
  .transform((text) => text.replace(/(?<!\/)\/+$/, ''));
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
  maxChars: MAX_CHARS,
  parseRecipient,
  recipientForms: 'a Teams recipient is a conversation id, such as 19:…@thread.v2 or a:1…',
  thread: { form: /^\d{1,20}$/, words: 'the id of its first message: digits' },
  connect: async (settings) => {
    const sdk = await import('@microsoft/teams.api');
    const serviceUrl = settings.baseUrl ?? settings.serviceUrl ?? SERVICE_URL;
    const tokens = new TokenSource(settings);
    return {
      platform: 'Teams',
      check: async (signal) => {
        await tokens.mint(signal);
        return settings.appId;
      },
      send: (message, signal) =>
        tokens.use(signal, (token) =>
          createActivity(makeClient(sdk, serviceUrl, { token, signal }), message),
        ),
      failureOf: teamsFailure,
    };
  },
});

function makeClient(
  sdk: typeof teamsSdk,
  serviceUrl: string,
  { token, signal }: { readonly token: string; readonly signal: AbortSignal },
): teamsSdk.Client {
  return new sdk.Client(serviceUrl, {
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
}

async function createActivity(
  client: teamsSdk.Client,
  message: AddressedMessage<string>,
): Promise<SendResult> {
  const thread = message.thread === undefined ? '' : `;messageid=${message.thread}`;
  const conversation = thread === '' ? message.to : message.to.replace(/;messageid=.*$/, '') + thread;
  const sent = await client.conversations.activities(conversation).create({
    type: 'message',
    text: message.text,
    textFormat: message.plain ? 'plain' : 'markdown',
  });
  const messageId = textField(sent, 'id');
  return messageId === undefined ? unreadable('Teams') : { kind: 'sent', messageId };
}

/** The failure behind an error of the SDK's transport (axios). */
function teamsFailure(error: unknown): SendFailure | undefined {
  const response = field(error, 'response');
  const status = field(response, 'status');
  if (typeof status === 'number' && status >= 300) {
    // 412 is a conflict inside Teams that its documentation asks to repeat.
    return refusal('Teams', status === 412 ? 503 : status, {
      description: describe(field(field(field(response, 'data'), 'error'), 'message'), []),
      retryAfterMs: parseRetryAfter(textField(field(response, 'headers'), 'retry-after')),
      remedy: status === 403 ? 'install the app in that conversation' : REMEDY,
    });
  }
  const code = field(error, 'code');
  if (code !== 'ERR_CANCELED' && code !== 'ECONNABORTED') return undefined;
  return { kind: 'ambiguous', code: 'timeout', message: 'Teams did not answer in time' };
}

/** Keeps the app's access token (client credentials) until shortly before it expires. */
class TokenSource {
  readonly #settings: TeamsSettings;
  #token = '';
  #renewAt = 0;

  constructor(settings: TeamsSettings) {
    this.#settings = settings;
  }

  /** Calls with the current token, minted again where it is used up; one that is refused is forgotten. */
  async use<Result>(signal: AbortSignal, call: (token: string) => Promise<Result>): Promise<Result> {
    const token = await prepare(async () => (Date.now() < this.#renewAt ? this.#token : this.mint(signal)));
    try {
      return await call(token);
    } catch (error) {
      if (field(field(error, 'response'), 'status') === 401) this.#renewAt = 0;
      throw error;
    }
  }

  /** @throws PreparationError where Microsoft refuses the credentials */
  async mint(signal: AbortSignal): Promise<string> {
    const answer = await this.#ask(signal);
    const token = textField(answer.body, 'access_token');
    if (answer.status >= 300 || token === undefined) throw this.#refusalOf(answer);
    const lifetimeMs = Number(field(answer.body, 'expires_in') ?? 0) * 1000;
    this.#token = token;
    this.#renewAt = Date.now() + Math.max(lifetimeMs - TOKEN_MARGIN_MS, 0);
    return token;
  }

  async #ask(signal: AbortSignal): Promise<JsonAnswer> {
    const { appId, appPassword, baseUrl, loginUrl, tenantId } = this.#settings;
    const login = loginUrl ?? baseUrl ?? LOGIN_URL;
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: appId,
      client_secret: appPassword,
      scope: SCOPE,
    });
    try {
      return await fetchJson(`${login}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`, { body, signal });
    } catch (error) {
      throw new PreparationError(failureOf(error, 'Microsoft'), { cause: error });
    }
  }

  #refusalOf({ body, retryAfterMs, status }: JsonAnswer): PreparationError {
    const said = field(body, 'error_description') ?? field(body, 'error');
    const description = describe(said, [this.#settings.appPassword]);
    // Wrong credentials are answered 400 (RFC 6749, section 5.2) as well as 401.
    const meant = status === 429 ? 429 : 401;
    return new PreparationError(refusal('Microsoft', meant, { description, retryAfterMs, remedy: REMEDY }));
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
