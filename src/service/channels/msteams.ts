import * as z from 'zod';
import { commonShape, defineChannel, httpUrl, secretText } from './define-channel.ts';
import { fetchJson, field, type JsonAnswer, textField } from '../../base/outgoing/outgoing.ts';
import { brought, prepare, refusedBy, type SendFailure, sentAs } from './send-failure.ts';

/** Teams takes about 28 KB per message with its own markup. */
const MAX_CHARS = 4000;
const SERVICE_URL = 'https://smba.trafficmanager.net/teams';
const LOGIN_URL = 'https://login.microsoftonline.com';
const SCOPE = 'https://api.botframework.com/.default';
const REMEDY = 'check channels.msteams.appId, appPassword and tenantId';
const TOKEN_MARGIN_MS = 300_000;

const schema = z.strictObject({
  ...commonShape,
  appId: secretText,
  appPassword: z
    .string({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be text') })
    .min(1, 'must not be empty'),
  tenantId: secretText,
  serviceUrl: httpUrl.optional(),
  loginUrl: httpUrl.optional(),
});
type TeamsSettings = z.output<typeof schema>;

export const msteams = defineChannel({
  id: 'msteams',
  schema,
  maxChars: MAX_CHARS,
  parseRecipient,
  recipientForms: 'a Teams recipient is a conversation id, such as 19:…@thread.v2 or a:1…',
  thread: { form: /^\d{1,20}$/, words: 'the id of its first message: digits' },
  connect: async (settings) => {
    const serviceUrl = settings.baseUrl ?? settings.serviceUrl ?? SERVICE_URL;
    const tokens = new TokenSource(settings);
    return {
      platform: 'Teams',
      check: async (signal) => {
        await tokens.mint(signal);
        return settings.appId;
      },
      send: async ({ to, thread, text, plain }, signal) => {
        const inThread = thread === undefined ? '' : `;messageid=${thread}`;
        const conversation = inThread === '' ? to : to.replace(/;messageid=.*$/, '') + inThread;
        const url = `${serviceUrl}/v3/conversations/${encodeURIComponent(conversation)}/activities`;
        const body = { type: 'message', text, textFormat: plain ? 'plain' : 'markdown' };
        const post = async (token: Promise<string>): Promise<JsonAnswer> => {
          const headers = { authorization: `Bearer ${await prepare(() => token)}` };
          return fetchJson(url, { headers, body, signal });
        };
        const first = await post(tokens.get(signal));
        // Microsoft may have ended the token before its time.
        const answer = first.status === 401 ? await post(tokens.mint(signal)) : first;
        return teamsRefusal(answer) ?? sentAs('Teams', textField(answer.body, 'id'));
      },
    };
  },
});

function teamsRefusal({ status, body, retryAfterMs }: JsonAnswer): SendFailure | undefined {
  // 412 is a conflict inside Teams that its documentation asks to repeat.
  return refusedBy(
    'Teams',
    { status: status === 412 ? 503 : status, retryAfterMs },
    {
      said: field(field(body, 'error'), 'message'),
      remedy: status === 403 ? 'install the app in that conversation' : REMEDY,
    },
  );
}

/** Keeps the app's access token (client credentials) until shortly before it expires. */
class TokenSource {
  readonly #settings: TeamsSettings;
  #token = '';
  #renewAt = 0;

  constructor(settings: TeamsSettings) {
    this.#settings = settings;
  }

  async get(signal: AbortSignal): Promise<string> {
    return Date.now() < this.#renewAt ? this.#token : this.mint(signal);
  }

  /** @throws PreparationError where Microsoft refuses the credentials */
  async mint(signal: AbortSignal): Promise<string> {
    const { appId, appPassword, baseUrl, loginUrl, tenantId } = this.#settings;
    const login = loginUrl ?? baseUrl ?? LOGIN_URL;
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: appId,
      client_secret: appPassword,
      scope: SCOPE,
    });
    const answer = await fetchJson(`${login}/${encodeURIComponent(tenantId)}/oauth2/v2.0/token`, {
      body,
      signal,
    });
    const failure = loginRefusal(answer, appPassword);
    this.#token = brought('Microsoft', failure, textField(answer.body, 'access_token'));
    const lifetimeMs = Number(field(answer.body, 'expires_in') ?? 0) * 1000;
    this.#renewAt = Date.now() + Math.max(lifetimeMs - TOKEN_MARGIN_MS, 0);
    return this.#token;
  }
}

/** Wrong credentials are answered 400 (RFC 6749, section 5.2) as well as 401. */
function loginRefusal({ status, body, retryAfterMs }: JsonAnswer, secret: string): SendFailure | undefined {
  const said = field(body, 'error_description') ?? field(body, 'error');
  const meant = status < 300 || status === 429 ? status : 401;
  return refusedBy('Microsoft', { status: meant, retryAfterMs }, { said, secrets: [secret], remedy: REMEDY });
}

function parseRecipient(to: string): string | undefined {
  const match = /^(?:msteams:|teams:)?(?:conversation:)?((?:19:|a:|\d{1,2}:|f:)[^\s]{4,400})$/.exec(
    to.trim(),
  );
  return match?.[1];
}
