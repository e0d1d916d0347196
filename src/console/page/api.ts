/** Calls of the service. */

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
  const answer = await fetch(path, init);
  // The cookie has ended: the same address asks for the key now.
  if (answer.status === 401) location.reload();
  if (!answer.ok) throw new ApiError(answer.status, (await answer.text()).trim());
  return (await answer.json()) as Answer;
}

/** Whether a call ended because nobody waits for it any more. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return 'the service does not answer; is it running?';
}
