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
  const headers = new Headers(init.headers);
  headers.set('x-sluice-session', sessionToken() ?? '');
  const answer = await fetch(path, { ...init, headers });
  if (answer.status === 401) endSession();
  if (!answer.ok) throw new ApiError(answer.status, (await answer.text()).trim());
  return (await answer.json()) as Answer;
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
