import { readJson } from '../../base/json.ts';
import { connectionCode, describe, field, parseRetryAfter, textField } from '../../base/outgoing/outgoing.ts';
import { deriveSignal } from '../../base/timers/timers.ts';
import { MailFailure } from './mail-failure.ts';

export interface GoogleEndpoints {
  readonly gmail: string;
  readonly pubsub: string;
}

export const GOOGLE_ENDPOINTS: GoogleEndpoints = {
  gmail: 'https://gmail.googleapis.com',
  pubsub: 'https://pubsub.googleapis.com',
};

/** Longest answer that is read: a message of 25 MB carries its attachments elsewhere, its texts in here. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const CALL_TIMEOUT_MS = 60_000;

export interface GoogleCall {
  readonly method?: 'GET' | 'POST';
  readonly body?: object;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

/** The answer of Google; `too-long` where it has more bytes than are read. */
export type GoogleAnswer =
  | { readonly kind: 'ok'; readonly body: unknown }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'too-long' };

/** Calls of Google's REST interfaces with a token that is renewed where they refuse it. */
export class GoogleApi {
  readonly #token: (refused?: string) => Promise<string>;

  constructor(token: (refused?: string) => Promise<string>) {
    this.#token = token;
  }

  /** @throws MailFailure */
  async call(url: string, call: GoogleCall): Promise<GoogleAnswer> {
    const token = await this.#token();
    const first = await send(url, call, token);
    const answer = first.status === 401 ? await send(url, call, await this.#token(token)) : first;
    const { status, text } = answer;
    if (status === 404) return { kind: 'not-found' };
    if (text === undefined) return { kind: 'too-long' };
    const body = text === '' ? {} : readJson(text);
    if (status >= 200 && status < 300) return { kind: 'ok', body };
    throw failureOf(new URL(url).host, { ...answer, body }, token);
  }
}

interface GmailResponse {
  readonly status: number;
  /** Undefined where the text is too long. */
  readonly text: string | undefined;
  readonly retryAfterMs: number | undefined;
}

async function send(url: string, call: GoogleCall, token: string): Promise<GmailResponse> {
  const derived = deriveSignal(call.signal, call.timeoutMs ?? CALL_TIMEOUT_MS);
  try {
    const response = await fetch(url, requestOf(call, token, derived.signal));
    return {
      status: response.status,
      text: await readBounded(response),
      retryAfterMs: parseRetryAfter(response.headers.get('retry-after')),
    };
  } catch (error) {
    const code = connectionCode(error) ?? textField(error, 'name') ?? 'no answer';
    throw new MailFailure('connection', `${new URL(url).host} cannot be reached (${code})`, { cause: error });
  } finally {
    derived.release();
  }
}

function requestOf({ method = 'GET', body }: GoogleCall, token: string, signal: AbortSignal): RequestInit {
  return {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: 'manual',
    signal,
  };
}

async function readBounded(response: Response): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > MAX_ANSWER_BYTES) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

/** Google's errors are `{error: {code, status, message}}`. */
function failureOf(
  host: string,
  { status, body }: { readonly status: number; readonly body: unknown },
  token: string,
): MailFailure {
  const said = describe(textField(field(body, 'error'), 'message'), [token]) ?? '';
  const text = `${host} answered ${String(status)}${said === '' ? '' : `: ${said}`}`;
  if (status === 401) return new MailFailure('authentication', text);
  const isLimit = status === 429 || /rate|quota|limit/i.test(said);
  if (status >= 400 && status < 500 && !isLimit) return new MailFailure('settings', text);
  return new MailFailure('connection', text);
}
