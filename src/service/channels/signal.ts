import * as z from 'zod';
import type { SendResult } from './channel.ts';
import { commonShape, defineChannel, parsePhone, textOrNumber } from './define-channel.ts';
import {
  describe,
  fetchJson,
  field,
  type JsonAnswer,
  listField,
  retryDelay,
} from '../../base/outgoing/outgoing.ts';
import { refusal, type SendFailure, unreadable } from './send-failure.ts';

/** Longer bodies go as an attachment in some clients. */
const MAX_CHARS = 2000;
/** Where `signal-cli daemon --http` listens by default. */
const DEFAULT_URL = 'http://127.0.0.1:8080';
const REMEDY = 'check channels.signal.account and that signal-cli is registered for it';

/** JSON-RPC error codes of signal-cli. */
const USER_ERROR = -1;
const IO_ERROR = -3;
const RATE_LIMIT_ERROR = -5;
const METHOD_NOT_FOUND = -32_601;

const schema = z.strictObject({
  ...commonShape,
  account: textOrNumber.pipe(
    z.string().transform((text, context) => {
      const phone = parsePhone(text, 'signal');
      if (phone !== undefined) return phone;
      context.addIssue({ code: 'custom', message: 'must be a phone number such as +15551234567' });
      return z.NEVER;
    }),
  ),
});

export const signal = defineChannel({
  id: 'signal',
  schema,
  maxChars: MAX_CHARS,
  parseRecipient,
  recipientForms:
    'a Signal recipient is a phone number with its country code, uuid:<uuid>, username:<name> or group:<id>',
  connect: async ({ account, baseUrl = DEFAULT_URL }) => {
    const url = `${baseUrl}/api/v1/rpc`;
    const call = (id: string, { method, params, signal: within }: SignalCall): Promise<JsonAnswer> =>
      fetchJson(url, { body: { jsonrpc: '2.0', id, method, params }, signal: within });
    return {
      platform: 'signal-cli',
      check: async (within) =>
        readAccounts(await call('check', { method: 'listAccounts', params: {}, signal: within }), account),
      send: async ({ to, text, key }, within) => {
        const params = { account, ...to, message: text };
        const answer = await call(key, { method: 'send', params, signal: within });
        return signalRefusal(answer) ?? sentMessage(answer);
      },
    };
  },
});

interface SignalCall {
  readonly method: string;
  readonly params: object;
  readonly signal: AbortSignal;
}

function readAccounts(answer: JsonAnswer, account: string): string | SendFailure {
  // A daemon started for one account (-a) does not list accounts.
  if (field(field(answer.body, 'error'), 'code') === METHOD_NOT_FOUND) return account;
  const failure = signalRefusal(answer);
  if (failure) return failure;
  const isKnown = listField(answer.body, 'result').some((entry) => field(entry, 'number') === account);
  return isKnown ? account : refusal('signal-cli', 401, { remedy: REMEDY });
}

function sentMessage(answer: JsonAnswer): SendResult {
  const result = field(answer.body, 'result');
  const timestamp = field(result, 'timestamp');
  if (typeof timestamp !== 'number') return unreadable('signal-cli');
  const types = listField(result, 'results').map((entry) => String(field(entry, 'type')));
  if (types.length > 0 && !types.includes('SUCCESS')) {
    return refusal('Signal', types.includes('UNREGISTERED_FAILURE') ? 404 : 400, { description: types[0] });
  }
  return { kind: 'sent', messageId: String(timestamp) };
}

function signalRefusal(answer: JsonAnswer): SendFailure | undefined {
  const error = field(answer.body, 'error');
  if (error === undefined) {
    return answer.status < 300 ? undefined : refusal('signal-cli', answer.status, { remedy: REMEDY });
  }
  const code = field(error, 'code');
  const description = describe(field(error, 'message'), []);
  if (code === RATE_LIMIT_ERROR) {
    return refusal('Signal', 429, { description, retryAfterMs: rateLimitDelay(error) });
  }
  if (code === IO_ERROR) {
    const message = 'signal-cli lost its connection to Signal';
    return { kind: 'ambiguous', code: 'connection_lost', message };
  }
  const isAccount = code === USER_ERROR && /account|not registered/i.test(description ?? '');
  return refusal('signal-cli', isAccount ? 401 : 400, { description, remedy: REMEDY });
}

function rateLimitDelay(error: unknown): number | undefined {
  const seconds = listField(field(field(error, 'data'), 'response'), 'results')
    .map((entry) => field(entry, 'retryAfterSeconds'))
    .find((value) => typeof value === 'number');
  return typeof seconds === 'number' ? retryDelay(seconds * 1000) : undefined;
}

type SignalRecipient =
  | { readonly recipient: readonly string[] }
  | { readonly groupId: string }
  | { readonly username: readonly string[] };

function parseRecipient(to: string): SignalRecipient | undefined {
  const bare = to.trim().replace(/^signal:/, '');
  const group = /^group:([A-Za-z0-9+/_-]{16,128}={0,2})$/.exec(bare)?.[1];
  if (group !== undefined) return { groupId: group };
  const uuid = /^(?:uuid:)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.exec(bare)?.[1];
  if (uuid !== undefined) return { recipient: [uuid] };
  const username = /^(?:username|u):(\w{3,32}\.\d{2,9})$/.exec(bare)?.[1];
  if (username !== undefined) return { username: [username] };
  const phone = parsePhone(bare, 'signal');
  return phone === undefined ? undefined : { recipient: [phone] };
}
