/**
 * Senders that keep a log of what they delivered, after their published interfaces: GitHub's "Deliveries for repository
 * webhooks" (REST, 2022-11-28), GitLab's "Project webhooks" (lib/api/hooks of its code), Stripe's "List all events". What is
 * asked of them is compared with what their own SDKs ask.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { githubHeaders } from '../../src/frontends/cli/running/demo-github.ts';

export type Provider = 'github' | 'gitlab' | 'stripe';

export const ASK_TOKEN = 'token-to-ask-with-0123456789';
export const SECRET = 'secret-of-the-webhook-0123456789';

interface Delivery {
  /** Beyond what a double holds, as those of GitHub are. */
  readonly id: string;
  readonly event: string;
  readonly at: number;
  readonly status: number | string;
  readonly isAgain: boolean;
  readonly kind: string;
  readonly payload: object;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
}

export class SenderLog {
  readonly asked: Asked[] = [];
  readonly log: Delivery[] = [];
  /** Events that were sent again, as often as they were. */
  readonly sentAgain: string[] = [];
  /** Events that were asked for although they had been answered 2xx. */
  readonly askedInVain: string[] = [];
  readonly #taken = new Set<string>();
  webhooks: Record<string, unknown>[] = [];
  /** Where it delivers to; absent: nobody answers. */
  target: string | undefined;
  /** Answers in place of what was asked. */
  fault: ((asked: Asked) => Answer | undefined) | undefined;
  /** Whether a delivery is lost on its way. */
  drops: () => boolean = () => false;
  /** Whether the answer is lost, though it came. */
  dropsAnswer: () => boolean = () => false;
  /** By which its clock is ahead. */
  skewMs = 0;
  pageSize = 3;
  #next = 9_007_199_254_740_993n;
  readonly #provider: Provider;
  readonly #server: Server;

  constructor(provider: Provider) {
    this.#provider = provider;
    this.#server = createServer((request, response) => {
      void this.#answer(request).then(({ status, body, headers = {} }) => {
        const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
        const date = new Date(this.now()).toUTCString();
        response.writeHead(status, { 'content-type': 'application/json', date, ...headers });
        response.end(text.replaceAll(/"#(\d+)"/g, '$1'));
      });
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }

  get api(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  now(): number {
    return Date.now() + this.skewMs;
  }

  /** Something happens at the sender, `agoMs` ago; it is delivered, or is not. */
  async happen(
    payload: object = {},
    { agoMs = 0, kind }: { agoMs?: number; kind?: string } = {},
  ): Promise<string> {
    const event = this.#provider === 'stripe' ? `evt_${randomUUID()}` : randomUUID();
    const usual = { github: 'issues', gitlab: 'Issue Hook', stripe: 'invoice.payment_failed' }[
      this.#provider
    ];
    await this.#deliver({ event, kind: kind ?? usual, payload, at: this.now() - agoMs, isAgain: false });
    return event;
  }

  async #deliver(made: Omit<Delivery, 'id' | 'status'>): Promise<number | string> {
    let status: number | string = this.#provider === 'gitlab' ? 'internal error' : 502;
    if (this.target !== undefined && !this.drops()) {
      const answer = await fetch(this.target, {
        method: 'POST',
        body: this.#bodyOf(made),
        headers: this.#headersOf(made),
        signal: AbortSignal.timeout(10_000),
      }).catch(() => undefined);
      await answer?.body?.cancel().catch(() => undefined);
      if (answer?.ok === true) this.#taken.add(made.event);
      if (answer !== undefined && !this.dropsAnswer()) status = answer.status;
    }
    this.log.unshift({ ...made, id: String((this.#next += 2n)), status });
    return status;
  }

  #bodyOf({ event, kind, payload, at }: Omit<Delivery, 'id' | 'status'>): string {
    return JSON.stringify(
      this.#provider === 'stripe'
        ? {
            id: event,
            object: 'event',
            type: kind,
            created: Math.floor(at / 1000),
            data: { object: payload },
          }
        : payload,
    );
  }

  #headersOf(made: Omit<Delivery, 'id' | 'status'>): Record<string, string> {
    const { event, kind } = made;
    const body = this.#bodyOf(made);
    const sign = (text: string): string => createHmac('sha256', SECRET).update(text).digest('hex');
    const seconds = Math.floor(Date.now() / 1000);
    const own = {
      github: githubHeaders(event, kind, body, SECRET),
      gitlab: {
        'Idempotency-Key': event,
        'X-Gitlab-Event': kind,
        'X-Gitlab-Event-UUID': randomUUID(),
        'X-Gitlab-Token': SECRET,
      },
      stripe: { 'Stripe-Signature': `t=${String(seconds)},v1=${sign(`${String(seconds)}.${body}`)}` },
    }[this.#provider];
    return { 'Content-Type': 'application/json', ...own };
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    await request.toArray();
    const asked = { method: request.method ?? '', path: request.url ?? '' };
    this.asked.push(asked);
    const faulty = this.fault?.(asked);
    if (faulty !== undefined) return faulty;
    const { authorization, 'private-token': own } = request.headers;
    if (![`Bearer ${ASK_TOKEN}`, `token ${ASK_TOKEN}`].includes(authorization ?? '') && own !== ASK_TOKEN)
      return { status: 401, body: { message: 'Bad credentials' } };
    const { pathname, searchParams } = new URL(asked.path, 'http://x');
    if (/(?:hooks|webhook_endpoints)$/.test(pathname))
      return {
        status: 200,
        body:
          this.#provider === 'stripe'
            ? { object: 'list', data: this.webhooks, has_more: false }
            : this.webhooks,
      };
    const [, hook] = /\/(?:hooks|webhook_endpoints)\/([^/]+)/.exec(pathname) ?? [];
    if (hook !== undefined && !this.webhooks.some(({ id }) => String(id) === hook))
      return { status: 404, body: { message: 'Not Found' } };
    if (asked.method === 'PATCH' || pathname.includes('webhook_endpoints')) {
      Object.assign(this.webhooks[0] ?? {}, { active: true, status: 'enabled' });
      return { status: 200, body: this.webhooks[0] };
    }
    const [, again] = /\/(?:deliveries|events)\/(\d+)\/(?:attempts|resend)$/.exec(pathname) ?? [];
    return again === undefined ? this.#page(pathname, searchParams) : this.#again(again);
  }

  async #again(id: string): Promise<Answer> {
    const found = this.log.find((each) => each.id === id);
    if (found === undefined) return { status: 404, body: { message: 'Not Found' } };
    this.sentAgain.push(found.event);
    if (this.#taken.has(found.event)) this.askedInVain.push(found.event);
    const sending = this.#deliver({ ...found, at: this.now(), isAgain: true });
    if (this.#provider === 'github') return { status: 202 };
    const status = await sending;
    return typeof status === 'number'
      ? { status: 201, body: { response_status: status } }
      : { status: 422, body: { message: 'it could not be sent' } };
  }

  #page(pathname: string, query: URLSearchParams): Answer {
    if (this.#provider === 'stripe') {
      const failed = this.log.filter(
        ({ status, event }, index) =>
          !(typeof status === 'number' && status < 300) &&
          this.log.findIndex((one) => one.event === event) === index,
      );
      const since = Number(query.get('created[gte]') ?? 0);
      const events = failed.filter(({ at }) => Math.floor(at / 1000) >= since);
      const from = events.findIndex(({ event }) => event === query.get('starting_after')) + 1;
      const data = events
        .slice(from, from + this.pageSize)
        .map((each) => JSON.parse(this.#bodyOf(each)) as object);
      return { status: 200, body: { object: 'list', data, has_more: events.length > from + this.pageSize } };
    }
    const isHub = this.#provider === 'github';
    const page = Number(query.get('page') ?? 1);
    const cursor = query.get('cursor');
    const from = isHub
      ? cursor === null
        ? 0
        : this.log.findIndex(({ id }) => id === cursor)
      : (page - 1) * this.pageSize;
    const shown = this.log
      .slice(from, from + this.pageSize)
      .map((each) => (isHub ? this.#asHub(each) : this.#asLab(each)));
    const next = this.log[from + this.pageSize];
    const more = new URLSearchParams(query);
    if (next !== undefined) more.set(isHub ? 'cursor' : 'page', isHub ? next.id : String(page + 1));
    const link = `<${this.api}${pathname}?${more.toString()}>; rel="next", <${this.api}/x>; rel="first"`;
    return { status: 200, body: shown, headers: next === undefined ? {} : { link } };
  }

  #asHub({ id, event, at, status, isAgain, kind }: Delivery): object {
    return {
      id: `#${id}`,
      guid: event,
      delivered_at: new Date(at).toISOString(),
      redelivery: isAgain,
      duration: 0.3,
      status: typeof status === 'number' && status < 300 ? 'OK' : 'failed to connect to host',
      status_code: status,
      event: kind,
      action: null,
    };
  }

  #asLab(made: Delivery): object {
    const { id, at, status, payload } = made;
    const request_headers = { ...this.#headersOf(made), 'X-Gitlab-Token': '[REDACTED]' };
    return {
      id: `#${id}`,
      url: this.target ?? '',
      trigger: 'issue_hooks',
      request_headers,
      request_data: payload,
      response_status: String(status),
      created_at: new Date(at).toISOString(),
    };
  }
}
