import {
  connectionCode,
  describe,
  fetchJson,
  field,
  type JsonAnswer,
  StatusError,
  textField,
  TooLongError,
} from '../../base/outgoing/outgoing.ts';
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

interface GoogleCall {
  readonly method?: 'GET' | 'POST';
  readonly body?: object;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

/** Calls of Google's REST interfaces with a token that is renewed where they refuse it. */
export class GoogleApi {
  readonly #token: (refused?: string) => Promise<string>;

  constructor(token: (refused?: string) => Promise<string>) {
    this.#token = token;
  }

  /**
   * Resolves to the body; undefined where the thing is not there.
   * @throws MailFailure, or TooLongError
   */
  async call(url: string, call: GoogleCall): Promise<unknown> {
    const token = await this.#token();
    const first = await send(url, call, token);
    const answer = first.status === 401 ? await send(url, call, await this.#token(token)) : first;
    if (answer.status === 404) return undefined;
    if (answer.status < 300) return answer.body ?? {};
    throw failureOf(new URL(url).host, answer, token);
  }
}

type Answered = Pick<JsonAnswer, 'status'> & Partial<JsonAnswer>;

async function send(url: string, call: GoogleCall, token: string): Promise<Answered> {
  const { timeoutMs = CALL_TIMEOUT_MS, signal, ...request } = call;
  using derived = deriveSignal(signal, timeoutMs);
  const headers = { authorization: `Bearer ${token}` };
  try {
    return await fetchJson(url, { ...request, headers, signal: derived.signal, maxBytes: MAX_ANSWER_BYTES });
  } catch (error) {
    if (error instanceof StatusError) return error;
    if (error instanceof TooLongError) throw error;
    const code = connectionCode(error) ?? textField(error, 'name') ?? 'no answer';
    throw new MailFailure('connection', `${new URL(url).host} cannot be reached (${code})`, { cause: error });
  }
}

/** Google's errors are `{error: {code, status, message}}`. */
function failureOf(host: string, { status, body }: Answered, token: string): MailFailure {
  const said = describe(textField(field(body, 'error'), 'message'), [token]) ?? '';
  const text = `${host} answered ${String(status)}${said === '' ? '' : `: ${said}`}`;
  if (status === 401) return new MailFailure('authentication', text);
  const isLimit = status === 429 || /rate|quota|limit/i.test(said);
  if (status >= 400 && status < 500 && !isLimit) return new MailFailure('settings', text);
  return new MailFailure('connection', text);
}
