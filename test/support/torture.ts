import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  openStorage,
  type OutboxRecord,
  type RunRecord,
  type Storage,
} from '../../src/engine/storage/storage.ts';
import { isoTime } from '../../src/engine/storage/facts.ts';
import { longerHere } from './longer-here.ts';
import { startPlatform, type PlatformServer } from './platform-server.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';
import { account, type Account } from './torture-books.ts';
import { AGENT_STEPS, CONVERSATION_MAPPINGS, Conversations } from './torture-conversations.ts';
import { Approvers, Senders, TOKEN } from './torture-senders.ts';

/**
 * Runs the real service under load, ends it with SIGKILL at random moments, starts it again, and in the end accounts
 * for every request by what its sender saw, what platforms received, and what the store holds.
 */
export interface TortureOptions {
  readonly kills: number;
  /** After so many kills one life ends with SIGTERM and a grace too short for what is under way. */
  readonly killsPerStop: number;
  /** Milliseconds under load between two kills, at least and at most. */
  readonly minLifeMs: number;
  readonly maxLifeMs: number;
  /** A life goes on until so many requests were answered in it: on a busy machine that takes longer. */
  readonly minAnswers: number;
  readonly clients: number;
  /** Conversations of several mappings that are told side by side. */
  readonly lanes: number;
  readonly seed: number;
  /** How long the service may take at last for all that waits: less than the test itself may take. */
  readonly drainMs: number;
  onKill?(done: number): void;
}

export interface TortureReport extends Account {
  readonly kills: number;
  readonly stops: number;
  /** Requests, however often each was sent. */
  readonly requests: number;
  readonly sendings: number;
  /** Requests whose first sending was answered 2xx, and those whose first answer was an error. */
  readonly answered: number;
  readonly refused: number;
  /** Requests that no sending of got an answer. */
  readonly unanswered: number;
  /** Tokens of agents that are taken after their turn, or altered. */
  readonly liveTokens: readonly string[];
}

/** Runs the torture in a folder of its own and reports; it only throws where the service misbehaves outright. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-torture-'));
  const random = createRandom(options.seed);
  const senders = new Senders(options.clients);
  const platform = await startSlowPlatform();
  let service: ServiceProcess | undefined;
  const ports = () => (service === undefined ? [] : [service.port]);
  const approvers = new Approvers(platform.requests, ports);
  const conversations = new Conversations({ folder, ports, withinMs: options.drainMs });
  const away: { readonly from: number; readonly until: number }[] = [];
  let endedAt: number | undefined;
  const start = async (): Promise<ServiceProcess> => {
    service = await startServiceProcess(folder);
    if (endedAt !== undefined) away.push({ from: endedAt, until: Date.now() });
    return service;
  };
  const live = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    const { port, end } = await start();
    senders.start(port);
    const before = senders.answered;
    await wait(options.minLifeMs + random() * (options.maxLifeMs - options.minLifeMs));
    while (senders.answered - before < options.minAnswers) await wait(10);
    await end(signal);
    endedAt = Date.now();
    await senders.pause();
  };
  let stops = 0;
  try {
    await writeFile(
      join(folder, 'sluice.yaml'),
      tortureConfig(folder, platform, { storage: '{url: "sqlite:./store.db"}' }),
    );
    conversations.start(options.lanes);
    for (let kill = 1; kill <= options.kills; kill++) {
      await live('SIGKILL');
      options.onKill?.(kill);
      if (kill % options.killsPerStop !== 0) continue;
      await live('SIGTERM');
      stops += 1;
    }
    const last = await start();
    await senders.finish(last.port);
    await conversations.finish();
    await drain(`sqlite:${join(folder, 'store.db')}`, { withinMs: options.drainMs, services: [last] });
    await approvers.stop();
    const liveTokens = await conversations.findLiveTokens(conversationUrl(last));
    await last.end('SIGTERM');
    const { sent } = senders;
    return {
      kills: options.kills,
      stops,
      requests: sent.length,
      sendings: sent.reduce((sum, entry) => sum + entry.sendings, 0),
      answered: senders.answered,
      refused: sent.filter(({ status = 0 }) => status >= 300).length,
      unanswered: sent.filter(({ status }) => status === undefined).length,
      liveTokens,
      ...(await account({
        folder,
        url: `sqlite:${join(folder, 'store.db')}`,
        sent,
        received: platform.requests,
        answered: approvers.answered,
        told: conversations.told,
        away,
        stops,
      })),
    };
  } finally {
    conversations.stop();
    await senders.pause();
    service?.child.kill('SIGKILL');
    await platform.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Takes every message and callback, some of them slowly: so that some end falls between what is sent and its answer. */
export function startSlowPlatform(): Promise<PlatformServer> {
  return startPlatform((request, index) => ({
    status: 200,
    ...(index % 8 === 0 ? { after: wait(150) } : {}),
    body: request.path.endsWith('/sendMessage')
      ? { ok: true, result: { message_id: 1, date: 1, chat: { id: 1, type: 'private' } } }
      : {},
  }));
}

/** Where agents add keys: at the port of hooks, where workers have none of their own. */
export const conversationUrl = ({ port }: ServiceProcess): string =>
  `http://127.0.0.1:${port}/workers/conversation`;

/** mulberry32: a seed makes a run repeatable as far as timing allows. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Of those who are asked, some answer in the time that they have here, which on a busy machine is up to a minute.
 * Chats get two chunks, one with the first mark and one with the last. A command says that it runs, and holds a lock of
 * its session key, or of the key of `maxRuns`, while it does: the kernel frees it with the last process of the run.
 */
export function tortureConfig(
  folder: string,
  { url }: PlatformServer,
  {
    storage,
    more = '',
    mail = '',
  }: { readonly storage: string; readonly more?: string; readonly mail?: string },
): string {
  const script = (lock: string, ...steps: readonly string[]): string =>
    JSON.stringify(
      [
        `cd ${folder}`,
        'printf "%s\\n" "$SLUICE_RUN_ID" >> executions.log',
        'printf "start %s %s\\n" "$(date +%s%3N)" "$SLUICE_RUN_ID" >> times.log',
        // Nothing to read: the service was killed before it gave the prompt, and this is nobody's run any more.
        'prompt=$(cat)',
        '[ -n "$prompt" ] || exit 1',
        `lock="lock.${lock}"`,
        'exec 9>> "$lock"',
        // Who has it, and whether its service still lives, tells what went wrong.
        'command -v flock > lock.tool && { flock -n 9 && printf "%s" "$SLUICE_RUN_ID $$" > "$lock.of" || printf "%s\\n" "$SLUICE_RUN_ID $lock $(cat "$lock.of") $(ps -o pid=,ppid=,etimes=,args= -p "$(cut -d " " -f 2 "$lock.of")" | cut -c 1-60)" >> overlaps.log; }',
        ...steps,
        'printf "%s" "$prompt"',
        'sleep 0.02',
        'printf "end %s %s\\n" "$(date +%s%3N)" "$SLUICE_RUN_ID" >> times.log',
      ].join('; '),
    );
  return `
hooks:
  enabled: true
  token: ${TOKEN}
  exposeRuns: true
  mappings:
    - {id: batch, match: {path: batch}, forEach: items, name: Batch, sessionKey: "hook:batch", messageTemplate: "{{item.id}}", deliver: false}
    - {id: command, match: {path: command}, name: Command, runner: sh, sessionKey: "hook:command:{{lane}}", messageTemplate: "{{id}}", deliver: false}
    - {id: keyed, match: {path: keyed}, messageTemplate: "{{id}}", deliver: false}
    - {id: deduped, match: {path: deduped}, messageTemplate: "{{id}}", deliver: false, dedupe: {key: "{{id}}"}}
    - {id: chat, match: {path: chat}, messageTemplate: "{{id}}first {{filler}} {{id}}last", channel: telegram, to: "{{chat}}"}
    - {id: mail, match: {path: mail}, messageTemplate: "Subject: {{messages.0.subject}}", deliver: false}
    - {id: gathered, match: {path: gathered}, messageTemplate: "{{id}}", deliver: false, debounce: {key: "{{lane}}", seconds: 1, maxSeconds: 2}}
    - {id: callback, match: {path: callback}, messageTemplate: "{{id}}", deliver: false, callbackUrl: ${JSON.stringify(`${url}/outcome`)}}
    - {id: asked, match: {path: asked}, runner: sh, messageTemplate: "{{id}}", deliver: false, approve: {channel: telegram, to: "77", withinSeconds: ${Math.min(60, Math.ceil(longerHere(10)))}}}
    - {id: narrow, match: {path: narrow}, forEach: items, runner: narrow, messageTemplate: "{{item.id}} lane{{lane}}", deliver: false, maxRuns: {key: "{{lane}}", runs: 1}}${CONVERSATION_MAPPINGS}
${mail}gateway:
  ${more}
  runners:
    sh: {kind: command, argv: [sh, -c, ${script('$SLUICE_SESSION_ID')}]}
    agent: {kind: command, argv: [sh, -c, ${script('$SLUICE_SESSION_ID', ...AGENT_STEPS)}]}
    narrow: {kind: command, argv: [sh, -c, ${script("$(printf '%s' \"$prompt\" | grep -o 'lane[0-9]' | head -n 1)")}]}
  heartbeat: {everySeconds: 0}
channels: {telegram: {botToken: "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", baseUrl: ${JSON.stringify(url)}}}
server: {stopGraceSeconds: 0.05, publicUrl: https://hooks.example.com}
storage: ${storage}
`;
}

interface DrainOptions {
  readonly withinMs: number;
  readonly services: readonly ServiceProcess[];
}

/**
 * Waits until nothing is queued or under way.
 * @throws Error that says what is left, where it takes too long
 */
export async function drain(url: string, { withinMs, services }: DrainOptions): Promise<void> {
  const deadline = performance.now() + withinMs;
  const storage = await openStorage(url, { mode: 'attached' });
  try {
    for (;;) {
      const { queuedRuns, activeRuns, queuedOutbox } = await storage.backlog();
      const sending = await storage.listOutbox({ limit: 1, state: 'active' });
      if (queuedRuns + activeRuns + queuedOutbox + sending.length === 0) return;
      if (performance.now() > deadline) {
        const counts = `${queuedRuns} runs queued, ${activeRuns} active, ${queuedOutbox} deliveries queued`;
        throw new Error(
          `not done within ${withinMs} ms: ${counts}\n${await describeLeft(storage, services)}`,
        );
      }
      await wait(50);
    }
  } finally {
    await storage.close();
  }
}

/** What waits or is under way, by its state, and how the log of each service ends. */
async function describeLeft(storage: Storage, services: readonly ServiceProcess[]): Promise<string> {
  const lines: string[] = [];
  for (const state of ['queued', 'active']) {
    const query = { limit: 10, state };
    for (const run of await storage.listRuns(query))
      lines.push(`${leftLine(run)}, mapping ${run.action.origin.mappingId ?? '-'}`);
    for (const entry of await storage.listOutbox(query))
      lines.push(`${leftLine(entry)}, of run ${entry.runId}`);
  }
  for (const { port, log } of services)
    lines.push(`the log of the service on port ${port} ends:`, ...log.slice(-20));
  return lines.join('\n');
}

function leftLine({ kind, id, state, attempts, dueAt, lastError }: RunRecord | OutboxRecord): string {
  return `${kind} ${id}: ${state}, attempts ${attempts}, due ${isoTime(dueAt)}, ${lastError?.code ?? 'no error'}`;
}
