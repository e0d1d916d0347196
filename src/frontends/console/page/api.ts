import { endSession, sessionToken } from './session.ts';

class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function getJson<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return call(path, signal === undefined ? {} : { signal });
}

export function postJson<Answer>(path: string, body: object, signal?: AbortSignal): Promise<Answer> {
  return call(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function call<Answer>(path: string, init: RequestInit): Promise<Answer> {
  const answer = await send(path, init);
  return (await answer.json()) as Answer;
}

async function send(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set('x-sluice-session', sessionToken() ?? '');
  const answer = await fetch(path, { ...init, headers });
  if (answer.status === 401) endSession();
  if (!answer.ok) throw new ApiError(answer.status, (await answer.text()).trim());
  return answer;
}

export interface FeedEvent {
  readonly kind: string;
  readonly data: unknown;
}

/**
 * Reads the feed until it ends or `signal` fires; an EventSource could not send the session. `opened` is
 * called when the service has answered.
 */
export async function readFeed(
  path: string,
  { signal, opened, take }: { signal: AbortSignal; opened: () => void; take: (event: FeedEvent) => void },
): Promise<void> {
  const answer = await send(path, { signal });
  if (answer.body === null) return;
  opened();
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (text + value).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) if (!event.startsWith(':')) take(parseEvent(event));
  }
}

/** Parses lines of `name: value`; the service writes each name once. */
function parseEvent(text: string): FeedEvent {
  const lines = new Map(text.split('\n').map((line) => [line.split(':', 1)[0], line.replace(/^\w+: ?/, '')]));
  return {
    kind: lines.get('event') ?? '',
    data: JSON.parse(lines.get('data') ?? 'null') as unknown,
  };
}

/** Whether a call ended because nobody waits for it any more. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Whether the problem may pass in a moment: the service does not answer, or not yet. */
export function isPassing(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500;
}

export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return 'the service does not answer; is it running?';
}
