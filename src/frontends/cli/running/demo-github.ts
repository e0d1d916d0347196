import { createHmac, randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { ListenerRequest, ListenerResponse } from '../../../service/server/server.ts';

/** Returns the headers that GitHub sends with an event, with the signature of the webhook's secret. */
export const githubHeaders = (event: string, kind: string, body: string, secret: string) => ({
  'content-type': 'application/json',
  'x-github-delivery': event,
  'x-github-event': kind,
  'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
});

/** What the demo needs of GitHub, on loopback: a repository with one webhook and its log, and who may write to it. */
export class LocalGithub {
  readonly #log: Readonly<{ id: number } & Record<'guid' | 'kind' | 'body', string>>[] = [];
  #webhook: { readonly id: number; readonly config?: { readonly secret: string } } = { id: 1 };
  /** Where events are delivered to, in place of the address of the webhook. */
  target = '';
  #lag: (() => void) | undefined;
  readonly handle = (request: ListenerRequest, response: ListenerResponse): void => {
    const send = (status: number, body: unknown = {}): unknown =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    void this.#answer(request).then(
      (body) => send(200, body),
      () => send(500),
    );
  };

  /** Delivers an event; resolves to the id of its request, if anybody answered. */
  async deliver(kind: string, body: string, guid: string = randomUUID()): Promise<string> {
    const headers = githubHeaders(guid, kind, body, this.#webhook.config?.secret ?? '');
    const answer = await fetch(this.target, { method: 'POST', headers, body }).catch(() => undefined);
    await answer?.body?.cancel();
    const entry = { delivered_at: new Date().toISOString(), status_code: answer?.status ?? 502 };
    this.#log.unshift({ id: this.#log.length + 1, guid, kind, body, ...entry });
    return answer?.headers.get('x-request-id') ?? '';
  }

  /** Its log is empty when it is asked for the next time, as it is written a little later; resolves then. */
  lag(): Promise<void> {
    return new Promise((resolve) => (this.#lag = resolve));
  }

  async #answer(request: ListenerRequest): Promise<unknown> {
    const body = await text(request);
    const path = request.url ?? '';
    if (path.endsWith('/permission')) return { permission: path.includes('/mallory/') ? 'read' : 'admin' };
    if (path.endsWith('/pulls')) return this.deliver('pull_request', body);
    if (path.endsWith('/hooks')) return (this.#webhook = { ...(JSON.parse(body) as object), id: 1 });
    if (path.includes('/hooks?')) return [this.#webhook];
    const again = this.#log.find(({ id }) => path.endsWith(`/deliveries/${id}/attempts`));
    if (again !== undefined) return this.deliver(again.kind, again.body, again.guid);
    const lag = this.#lag;
    this.#lag = undefined;
    lag?.();
    return lag === undefined ? this.#log : [];
  }
}
