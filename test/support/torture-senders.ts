import { Agent, request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { ReceivedRequest } from './platform-server.ts';

export const TOKEN = 'torture-token-0123456789';

export type Kind =
  | 'wake'
  | 'agent'
  | 'batch'
  | 'command'
  | 'keyed'
  | 'deduped'
  | 'chat'
  | 'callback'
  | 'gathered'
  | 'asked'
  | 'narrow';

/** Few requests start a process and one is a batch: what costs most is not what there is most of. */
const MIX: readonly Kind[] = [
  'wake',
  'agent',
  'keyed',
  'wake',
  'batch',
  'deduped',
  'agent',
  'chat',
  'command',
  'callback',
  'gathered',
  'asked',
  'narrow',
];

/** Requests that become several runs; those of one key of `maxRuns` would begin together. */
const SEVERAL: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  batch: ['a', 'b', 'c'],
  narrow: ['a', 'b'],
};

/** A request as its sender sees it. */
export interface Sent {
  /** Ids written into the messages. */
  readonly ids: readonly string[];
  readonly kind: Kind;
  readonly number: number;
  /** Of the first answer; undefined where the connection ended without one. */
  status: number | undefined;
  /** When it was sent first, and answered 2xx first: milliseconds since the epoch. */
  readonly askedAt: number;
  answeredAt?: number;
  /** For every answer 2xx the ids of runs and events in it. A request that names itself is sent again after kills. */
  readonly answers: (readonly string[])[];
  sendings: number;
}

/** Requests that carry what makes a repeat known: their senders repeat them until they are answered, and then again. */
function isRepeatable({ kind }: Pick<Sent, 'kind'>): boolean {
  return kind === 'keyed' || kind === 'deduped';
}

/** Clients that send one request after the other and remember what they sent and what was answered. */
export class Senders {
  readonly sent: Sent[] = [];
  readonly #clients: number;
  #again: Sent[] = [];
  #running: Promise<unknown> = Promise.resolve();
  #active = false;
  readonly #step: number;
  #counter: number;

  /** `first` and `step` keep the numbers of several groups of clients apart. */
  constructor(clients: number, { first = 0, step = 1 } = {}) {
    this.#clients = clients;
    this.#counter = first;
    this.#step = step;
  }

  /** Requests whose first sending was answered 2xx. */
  get answered(): number {
    return this.sent.filter(({ status = 0 }) => status >= 200 && status < 300).length;
  }

  /** Sends repeats of before the kill, then new requests, until `pause`. */
  start(port: number): void {
    const repeats = this.#again;
    this.#again = [];
    this.#begin(port, () => repeats.shift() ?? this.#create());
  }

  /** Resolves when every request that may be repeated has been answered after the last kill. */
  async finish(port: number): Promise<void> {
    const repeats = [...new Set([...this.#again, ...this.sent.filter((entry) => isRepeatable(entry))])];
    this.#again = [];
    this.#begin(port, () => repeats.shift());
    await this.#running;
    this.#active = false;
  }

  async pause(): Promise<void> {
    this.#active = false;
    await this.#running;
  }

  #begin(port: number, next: () => Sent | undefined): void {
    this.#active = true;
    const agent = new Agent({ keepAlive: true, maxSockets: this.#clients });
    const loops = Array.from({ length: this.#clients }, () => this.#loop(port, agent, next));
    this.#running = Promise.all(loops).finally(() => agent.destroy());
  }

  #create(): Sent {
    const number = this.#counter;
    this.#counter += this.#step;
    const id = `m${number}-`;
    const kind = MIX[number % MIX.length] ?? 'wake';
    const ids = SEVERAL[kind]?.map((mark) => id + mark) ?? [id];
    const askedAt = Date.now();
    const entry: Sent = { ids, kind, number, status: undefined, askedAt, answers: [], sendings: 0 };
    this.sent.push(entry);
    return entry;
  }

  async #loop(port: number, agent: Agent, next: () => Sent | undefined): Promise<void> {
    while (this.#active) {
      const entry = next();
      if (entry === undefined) return;
      entry.sendings += 1;
      const answer = await post(port, agent, entry).catch(() => undefined);
      entry.status ??= answer?.status;
      if (answer !== undefined && answer.status < 300) {
        entry.answers.push(answer.ids);
        entry.answeredAt ??= Date.now();
      }
      const isAccepted = answer !== undefined && answer.status < 300;
      if (isRepeatable(entry) && (!isAccepted || entry.sendings === 1)) this.#again.push(entry);
      if (answer === undefined) return;
      await wait(6);
    }
  }
}

interface Answer {
  readonly status: number;
  readonly ids: readonly string[];
}

function post(port: number, agent: Agent, entry: Sent): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const call = request(
    {
      host: '127.0.0.1',
      port,
      agent,
      method: 'POST',
      path: `/hooks/${entry.kind}`,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        ...(entry.kind === 'keyed' ? { 'idempotency-key': entry.ids[0] } : {}),
      },
    },
    (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.once('end', () => {
        if (response.complete) resolve({ status: response.statusCode ?? 0, ids: idsIn(text) });
        else reject(new Error('the answer was cut off'));
      });
      response.once('error', reject);
    },
  );
  call.once('error', reject);
  call.setTimeout(10_000, () => call.destroy(new Error('no answer in 10 s')));
  call.end(JSON.stringify(bodyOf(entry)));
  return promise;
}

function idsIn(text: string): readonly string[] {
  const answer = JSON.parse(text) as { id?: string; runId?: string; runIds?: readonly string[] };
  return answer.runIds ?? [answer.runId ?? answer.id ?? ''];
}

/** The conversation, or the key, of a request. */
export function laneOf(number: number): number {
  return Math.floor(number / MIX.length) % 5;
}

function bodyOf({ kind, ids, number }: Sent): object {
  const [id = ''] = ids;
  switch (kind) {
    case 'wake':
      return { text: id, mode: 'next-heartbeat' };
    case 'agent':
      return { message: id, deliver: false, sessionKey: `hook:lane:${number % 5}` };
    case 'batch':
      return { items: ids.map((item) => ({ id: item })) };
    case 'command':
    case 'gathered':
      return { id, lane: laneOf(number) };
    case 'narrow':
      return { lane: laneOf(number), items: ids.map((item) => ({ id: item })) };
    case 'chat':
      return { id, filler: 'word '.repeat(900), chat: 100 + (number % 16) };
    case 'keyed':
    case 'deduped':
    case 'callback':
    case 'asked':
      return { id };
  }
}

/** What somebody was told who said whether a run begins: what holds, as the page of the link has it. */
export interface ApprovalAnswered {
  readonly runId: string;
  readonly asked: 'approve' | 'deny';
  readonly said: string;
}

/** A question with its link, as it came to the platform; the link leads to whatever port a service has now. */
const QUESTION = /https:\/\/hooks\.example\.com(\/hooks\/approvals\/([\w-]+)\/\S+)/;
/** Answers that nobody got are sent again so often: a service that was killed is back before. */
const SENDINGS = 300;

/**
 * People who answer questions by the links in them: one in four is only looked at, two are approved or denied, and of one
 * both is said at the same time, to two services where there are several.
 */
export class Approvers {
  readonly answered: ApprovalAnswered[] = [];
  readonly #received: readonly ReceivedRequest[];
  readonly #ports: () => readonly number[];
  readonly #known = new Set<string>();
  readonly #work: Promise<void>[] = [];
  readonly #reading: Promise<void>;
  #read = 0;
  #isOpen = true;

  constructor(received: readonly ReceivedRequest[], ports: () => readonly number[]) {
    this.#received = received;
    this.#ports = ports;
    this.#reading = this.#readAll();
  }

  /** Resolves when all that was asked has been answered. */
  async stop(): Promise<void> {
    this.#isOpen = false;
    await this.#reading;
    await Promise.all(this.#work);
  }

  async #readAll(): Promise<void> {
    while (this.#isOpen) {
      for (const { body } of this.#received.slice(this.#read)) {
        this.#read += 1;
        const [, path = '', runId = ''] = QUESTION.exec(String(body?.['text'])) ?? [];
        if (runId === '' || this.#known.has(runId)) continue;
        const all = [['approve', 'deny'], [], ['deny'], ['approve']] as const;
        const choice = all[this.#known.size % all.length] ?? [];
        this.#known.add(runId);
        const saying = choice.map((asked, index) => this.#say({ runId, asked, path, index }));
        this.#work.push(this.#look(path), ...saying);
      }
      await wait(10);
    }
  }

  async #say({
    runId,
    asked,
    path,
    index,
  }: Pick<ApprovalAnswered, 'runId' | 'asked'> & Saying): Promise<void> {
    for (let sending = 0; sending < SENDINGS; sending += 1) {
      const page = await this.#fetch(path, index + sending, { method: 'POST', body: `decision=${asked}` });
      const said = /<strong>([^<]+)<\/strong>/.exec(page ?? '')?.[1];
      if (said !== undefined) this.answered.push({ runId, asked, said });
      if (said !== undefined) return;
      await wait(100);
    }
  }

  /** As a preview does, and whoever only looks. */
  async #look(path: string): Promise<void> {
    await this.#fetch(path, 0, { method: 'GET' });
  }

  async #fetch(path: string, index: number, init: RequestInit): Promise<string | undefined> {
    const ports = this.#ports();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const url = `http://127.0.0.1:${ports[index % ports.length] ?? 9}${path}`;
    try {
      const response = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(10_000) });
      return response.status === 200 ? await response.text() : undefined;
    } catch {
      return undefined;
    }
  }
}

interface Saying {
  readonly path: string;
  /** Which service hears it first. */
  readonly index: number;
}
