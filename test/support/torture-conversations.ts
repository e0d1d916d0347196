import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { RunRecord, SessionRecord } from '../../src/engine/storage/storage.ts';
import { builtMain } from './built-program.ts';
import { cli } from './cli-terminal.ts';
import { TOKEN } from './torture-senders.ts';

/*
 * Conversations of several mappings, in the load. An event waits for a key of a conversation; the agent of its first run
 * adds the key with the token of its turn, and puts its mark into what it opens; then come further events under each key,
 * and the end of some of them. Every event is sent until it is answered, whatever is killed meanwhile.
 */

/** `own` is what the agent opens, and `after` comes when the conversation has ended. */
type Part = 'early' | 'first' | 'next' | 'more' | 'own' | 'reviewed' | 'late' | 'closed' | 'after';

/** Which paths take them; the others go to `said`. */
const PATHS: Readonly<Partial<Record<Part, string>>> = {
  first: 'began',
  own: 'github',
  closed: 'closed',
  after: 'after',
};

/** What makes no turn of an agent. */
const WITHOUT_TURN: readonly Part[] = ['own', 'closed', 'after'];

export interface ConversationEvent {
  readonly part: Part;
  readonly message: string;
  readonly askedAt: number;
  /** Milliseconds since the epoch; absent as long as nobody has answered. */
  answeredAt?: number;
  /** The run that an answer names. */
  runId?: string;
}

export interface ToldConversation {
  readonly name: string;
  readonly events: ConversationEvent[];
  /** What the agent of its first run was given, once its key was added. */
  added?: Ask;
  /** How the first run ended, where its agent could not add the key: the operator adds it then. */
  leftBy?: string;
}

/** With what an agent adds keys. */
interface Ask {
  readonly url: string;
  readonly token: string;
  readonly mark: string;
}

export const CONVERSATION_MAPPINGS = `
    - {id: began, match: {path: began}, runner: agent, sessionKey: "{{key}}", conversation: {owner: talks, agentKeys: ["hook:talk:"]}, messageTemplate: "{{id}}", deliver: false}
    - {id: said, match: {path: said}, runner: agent, sessionKey: "{{key}}", conversation: {owner: talks, start: false, waitSeconds: 3600}, messageTemplate: "{{id}}", deliver: false}
    - {id: opened, match: {path: github}, runner: agent, startedBy: {accounts: [agent]}, sessionKey: "{{pull_request.key}}", conversation: {owner: talks}, messageTemplate: "{{pull_request.title}}", deliver: false}
    - {id: closed, match: {path: closed}, runner: agent, sessionKey: "{{key}}", conversation: {owner: talks, end: now}, messageTemplate: "{{id}}", deliver: false}
    - {id: after, match: {path: after}, runner: agent, sessionKey: "{{key}}", conversation: {owner: talks, start: false, waitSeconds: 1}, messageTemplate: "{{id}}", deliver: false}`;

/**
 * What the command of the runner \`agent\` does besides: it shows what it was given, waits until it is told to go on, and
 * runs \`sluice conversation add\` with the key that it was told, if there is one.
 */
export const AGENT_STEPS = [
  'ask="asks/$SLUICE_RUN_ID"; told="told/$SLUICE_RUN_ID"; answer="answers/$SLUICE_RUN_ID"',
  'printf "%s\\n%s\\n%s\\n" "$SLUICE_CONVERSATION_URL" "$SLUICE_CONVERSATION_TOKEN" "$SLUICE_MARK" > "$ask.$$"',
  'mv "$ask.$$" "$ask"',
  // About a minute. Each look is a process: after half a second they become rarer.
  'tries=0; while [ -n "$SLUICE_CONVERSATION_TOKEN" ] && [ ! -e "$told" ] && [ $tries -lt 325 ]; do tries=$((tries + 1)); [ $tries -lt 25 ] && sleep 0.02 || sleep 0.2; done',
  'key=$(cat "$told" 2> told.none)',
  `[ -z "$key" ] || { "${process.execPath}" "${builtMain()}" conversation add "$key" > "$answer.$$" 2>&1; mv "$answer.$$" "$answer"; }`,
];

export interface ConversationsOptions {
  readonly folder: string;
  /** The ports of the services that live. */
  readonly ports: () => readonly number[];
  /** The environment of the operator's commands. Default: that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** How long the first event waits for its key, at least. Default: no time. */
  readonly addsAfterMs?: number;
  /** Whether the agent adds its key by the command; by a request with its token otherwise. */
  readonly byCommand?: boolean;
  /** How long an event may wait for its answer, and a run for its turn, behind all that has gathered. */
  readonly withinMs: number;
}

export class Conversations {
  readonly told: ToldConversation[] = [];
  readonly #options: ConversationsOptions;
  #lanes: Promise<unknown> = Promise.resolve();
  #isOpen = true;
  #isOver = false;
  #sendings = 0;

  constructor(options: ConversationsOptions) {
    this.#options = options;
    for (const folder of ['asks', 'told', 'answers'])
      mkdirSync(join(options.folder, folder), { recursive: true });
  }

  /** Begins some lanes, each of which tells one conversation after the other. */
  start(lanes: number): void {
    const lane = async (): Promise<void> => {
      while (this.#isOpen) await this.tell();
    };
    this.#lanes = Promise.all(Array.from({ length: lanes }, lane));
    this.#lanes.catch(() => undefined);
  }

  /** Resolves when all that was begun is told. An operator adds the keys that no agent could add. */
  async finish(): Promise<void> {
    this.#isOpen = false;
    await this.#lanes;
    const { folder: cwd, env = process.env } = this.#options;
    for (const { name, leftBy } of this.told) {
      if (leftBy === undefined) continue;
      const add = ['conversation', 'add', keyOf(name, 'branch'), '--conversation', keyOf(name)];
      const { exitCode, err } = await cli([...add, '-c', 'sluice.yaml'], { cwd, env });
      if (exitCode !== 0) throw new Error(`${name}: the operator could not add a key: ${err}`);
    }
  }

  /** Gives up what is under way. */
  stop(): void {
    this.#isOpen = false;
    this.#isOver = true;
  }

  /** Tells one conversation from its beginning to its end. */
  async tell(): Promise<void> {
    const number = this.told.length;
    const conversation: ToldConversation = { name: `c${number}`, events: [] };
    this.told.push(conversation);
    const { name } = conversation;
    const [own, branch, pull] = [keyOf(name), keyOf(name, 'branch'), keyOf(name, 'pull')];
    const send = (part: Part, key: string) => this.#send(conversation, part, { key });
    // The sender of the first event is faster than the agent: often even faster than what begins the conversation.
    const early = number % 2 === 0 ? await send('early', branch) : undefined;
    const first = await send('first', own);
    const { answeredAt = 0 } = early ?? (await send('early', branch));
    await send('next', own);
    await send('more', own);
    if (!(await this.#addKey(conversation, first, answeredAt))) return;
    await this.#send(conversation, 'own', { key: pull });
    await send('reviewed', pull);
    await send('late', branch);
    if (number % 3 !== 0) return;
    await send('closed', pull);
    await send('after', branch);
  }

  /** Waits until the agent of the first run has added its key; false where the run ended before. */
  async #addKey(
    conversation: ToldConversation,
    { runId = '' }: ConversationEvent,
    since: number,
  ): Promise<boolean> {
    const { addsAfterMs = 0, byCommand = false, withinMs } = this.#options;
    const key = keyOf(conversation.name, 'branch');
    const deadline = Date.now() + withinMs;
    for (let tries = 1; Date.now() < deadline && !this.#isOver; tries += 1) {
      const ask = Date.now() < since + addsAfterMs ? undefined : this.#readAsk(runId);
      if (ask !== undefined && byCommand) this.#tell(runId, key);
      const isAdded =
        ask !== undefined && (byCommand ? this.#hasAdded(runId) : (await addByToken(ask, key)) === 200);
      if (isAdded) {
        conversation.added = ask;
        this.#tell(runId, byCommand ? key : '');
        return true;
      }
      const state = tries % 20 === 0 ? await this.#stateOf(runId) : undefined;
      if (state === 'dead' || state === 'completed') {
        conversation.leftBy = state;
        return false;
      }
      await wait(10);
    }
    const state = await this.#stateOf(runId);
    throw new Error(`${conversation.name}: the agent of run ${runId} (${state}) did not add its key`);
  }

  /** Where the agents add their keys that are in their turn and have not been told to: the addresses of their services. */
  asking(): readonly string[] {
    return this.told.flatMap(({ events }) => {
      const runId = events.find(({ part }) => part === 'first')?.runId;
      if (runId === undefined || existsSync(join(this.#options.folder, 'told', runId))) return [];
      return this.#readAsk(runId)?.url ?? [];
    });
  }

  #readAsk(runId: string): Ask | undefined {
    const file = join(this.#options.folder, 'asks', runId);
    if (!existsSync(file)) return undefined;
    const [url = '', token = '', mark = ''] = readFileSync(file, 'utf8').split('\n');
    return token === '' ? undefined : { url, token, mark };
  }

  /** Lets the agent of a run go on. */
  #tell(runId: string, key: string): void {
    const file = join(this.#options.folder, 'told', runId);
    if (existsSync(file)) return;
    writeFileSync(`${file}.new`, key);
    renameSync(`${file}.new`, file);
  }

  #hasAdded(runId: string): boolean {
    const file = join(this.#options.folder, 'answers', runId);
    return existsSync(file) && /^added$|known by it already/m.test(readFileSync(file, 'utf8'));
  }

  async #stateOf(runId: string): Promise<string | undefined> {
    const answer = await this.#fetch(`runs/${runId}`, { method: 'GET' });
    return answer?.status === 200 ? (answer.body['state'] as string) : undefined;
  }

  /** Sends an event again until it is answered: it names itself, so that no service takes it twice. */
  async #send(
    { name, events, added }: ToldConversation,
    part: Part,
    { key }: { readonly key: string },
  ): Promise<ConversationEvent> {
    const message = `${name}-${part}`;
    const event: ConversationEvent = { part, message, askedAt: Date.now() };
    events.push(event);
    const user = { login: 'agent' };
    const opened = { title: message, body: `Done.\n\n${added?.mark}`, user, key };
    const body = part === 'own' ? { pull_request: opened, sender: user } : { id: message, key };
    const init = { method: 'POST', headers: { 'idempotency-key': message }, body: JSON.stringify(body) };
    for (const deadline = Date.now() + this.#options.withinMs; Date.now() < deadline && !this.#isOver;) {
      const answer = await this.#fetch(PATHS[part] ?? 'said', init);
      if (answer !== undefined && answer.status < 300) {
        event.answeredAt = Date.now();
        const runId = answer.body['runId'];
        if (typeof runId === 'string') event.runId = runId;
        return event;
      }
      if (answer !== undefined && answer.status < 500)
        throw new Error(`${message} was answered ${answer.status}`);
      await wait(50);
    }
    throw new Error(`${message} was not taken`);
  }

  async #fetch(
    path: string,
    { headers = {}, ...init }: { method: string; body?: string; headers?: Record<string, string> },
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown> } | undefined> {
    const ports = this.#options.ports();
    const port = ports[(this.#sendings += 1) % ports.length] ?? 9;
    try {
      const answer = await fetch(`http://127.0.0.1:${port}/hooks/${path}`, {
        ...init,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...headers },
        signal: AbortSignal.timeout(10_000),
      });
      const text = await answer.text();
      return {
        status: answer.status,
        body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      };
    } catch {
      return undefined;
    }
  }

  /** Tokens of turns that have ended, and one that was altered, which a service at this address takes all the same. */
  async findLiveTokens(url: string): Promise<readonly string[]> {
    const live: string[] = [];
    for (const { name, added } of this.told) {
      if (added === undefined) continue;
      const key = keyOf(name, 'forged');
      const over = await addByToken({ ...added, url }, key);
      if (over !== 409) live.push(`${name}: its token (${over})`);
      // Who tries a few wrong ones is kept out for a while.
      if (live.length > 0 || name !== this.told[0]?.name) continue;
      const token = added.token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
      const wrong = await addByToken({ url, token }, key);
      if (wrong !== 401) live.push(`${name}: an altered one (${wrong})`);
    }
    return live;
  }
}

/** A key of a conversation: its own, that of the branch on which its agent works, or of what the agent opens. */
function keyOf(name: string, of?: 'branch' | 'pull' | 'forged'): string {
  return of === undefined ? `hook:talk:${name}` : `hook:talk:${name}:${of}`;
}

/** The status of the answer; undefined where there was none. */
async function addByToken(
  { url, token }: Pick<Ask, 'url' | 'token'>,
  key: string,
): Promise<number | undefined> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ key }),
      signal: AbortSignal.timeout(10_000),
    });
    const { result } = (await answer.json()) as { readonly result?: string };
    return answer.status === 200 && result !== 'added' && result !== 'known' ? 400 : answer.status;
  } catch {
    return undefined;
  }
}

export interface ConversationAccount {
  /** Events that are there twice or not, came to another conversation, or had a turn that they must not have; lost keys. */
  readonly conversationFaults: readonly string[];
  readonly conversations: {
    readonly begun: number;
    /** Of which the agent added a key by its token and one by its mark. */
    readonly added: number;
    /** Of which the operator added the key, as the first run was given up before. */
    readonly left: number;
    readonly ended: number;
    readonly superseded: number;
  };
}

interface Found {
  readonly runs: ReadonlyMap<string, readonly RunRecord[]>;
  readonly sessions: readonly SessionRecord[];
  /** When each run first began: milliseconds since the epoch. */
  readonly begun: ReadonlyMap<string, number>;
}

/** Compares what was told with what is there. */
export function accountForConversations(
  told: readonly ToldConversation[],
  found: Found,
): ConversationAccount {
  const all = told.flatMap(({ events }) => events.flatMap(({ message }) => found.runs.get(message) ?? []));
  const ended = told.filter(isEnded);
  return {
    conversationFaults: told.flatMap((one) => [
      ...one.events.flatMap((event) => faultsOf(one, event, found)),
      ...faultsOfEnd(one, found),
      ...faultsOfKeys(one, found),
    ]),
    conversations: {
      begun: told.length,
      added: told.filter(({ added }) => added !== undefined).length,
      left: told.filter(({ leftBy }) => leftBy !== undefined).length,
      ended: ended.length,
      superseded: all.filter(({ lastError }) => lastError?.code === 'superseded').length,
    },
  };
}

const isEnded = ({ events }: ToldConversation): boolean => events.some(({ part }) => part === 'closed');

function faultsOf(
  one: ToldConversation,
  event: ConversationEvent,
  { runs, begun }: Found,
): readonly string[] {
  const { part, message, runId } = event;
  const [run, ...others] = runs.get(message) ?? [];
  if (run === undefined) return [`lost: ${message}`];
  if (others.length > 0) return [`doubled: ${message}`];
  const { state, outcome, attempts, lastError, action } = run;
  const how = `${state}/${outcome ?? '-'} ${lastError?.code ?? ''} after ${attempts} attempts`;
  const hasTurn = attempts > 0 || begun.has(run.id);
  const isIn = part === 'after' || action.sessionKey === keyOf(one.name);
  const isGivenUp = state === 'dead' && attempts === 3 && lastError?.code === 'interrupted';
  const isRight =
    part === 'after'
      ? lastError?.code === 'no_conversation'
      : (state === 'completed' && outcome === 'ok') ||
        (!WITHOUT_TURN.includes(part) &&
          (isGivenUp || (isEnded(one) && state === 'completed' && lastError?.code === 'superseded')));
  const by = action.kind === 'agent' ? action.conversation?.found?.by?.addedBy : undefined;
  const agent = `agent in run ${one.events.find((each) => each.part === 'first')?.runId}`;
  return [
    ...(runId !== undefined && runId !== run.id ? [`strayed: ${message} was answered with another run`] : []),
    ...(isIn ? [] : [`strayed: ${message} came to ${action.sessionKey}`]),
    ...(isRight ? [] : [`ended otherwise: ${message} (${how})`]),
    ...(WITHOUT_TURN.includes(part) && hasTurn ? [`performed: ${message} (${how})`] : []),
    ...(['early', 'own', 'late', 'reviewed'].includes(part) &&
    by !== agent &&
    (one.leftBy === undefined || by !== 'operator')
      ? [`key of another: ${message} came by one that ${by} added`]
      : []),
  ];
}

/** Only the turn that was under way may show itself after the end. */
function faultsOfEnd({ events }: ToldConversation, { runs, begun }: Found): readonly string[] {
  const endedAt = events.find(({ part }) => part === 'closed')?.answeredAt ?? Infinity;
  const late = events.filter(({ message }) =>
    (runs.get(message) ?? []).some(({ id }) => (begun.get(id) ?? 0) > endedAt),
  );
  return late.length > 1 ? [`begun after the end: ${late.map(({ message }) => message).join(', ')}`] : [];
}

/** Keys that were added are known until their conversation ends. Without a turn that ended well there is no record of one. */
function faultsOfKeys(one: ToldConversation, { sessions }: Found): readonly string[] {
  const { name, added, leftBy } = one;
  const session = sessions.find(({ key }) => key === keyOf(name));
  if (session === undefined) return [];
  if (leftBy === 'completed') return [`no token: the agent of ${name} could not add a key`];
  const keys = session.keys.map(({ key }) => key);
  const wanted = isEnded(one) || added === undefined ? [] : [keyOf(name, 'branch'), keyOf(name, 'pull')];
  return [
    ...wanted.filter((key) => !keys.includes(key)).map((key) => `forgotten: ${key}`),
    ...(keys.includes(keyOf(name, 'forged')) || (isEnded(one) && keys.length > 0)
      ? [`known by too much: ${keys.join(', ')}`]
      : []),
  ];
}

/** The events of which it is certain in which order they came, for the judge of orders. */
export function ordered({ events, leftBy }: ToldConversation): readonly ConversationEvent[] {
  const first = events.find(({ part }) => part === 'first');
  return events.flatMap((event) => {
    if (WITHOUT_TURN.includes(event.part) || event.answeredAt === undefined) return [];
    if (event.part !== 'early' || first === undefined) return [event];
    // An operator added the key when all else had begun. Before the key was added, the first run had begun.
    if (leftBy !== undefined) return [];
    return [
      {
        ...event,
        askedAt: Math.max(event.askedAt, first.askedAt),
        answeredAt: Math.max(event.answeredAt, first.answeredAt ?? 0),
      },
    ];
  });
}
