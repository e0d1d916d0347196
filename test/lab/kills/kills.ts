/**
 * `npm run kills`: one sender, a receiver that is killed at random times, and what of the accepted events was lost or done
 * twice. `-- NAME` runs only the receivers whose name begins so, `-- --kills N` kills each so often (10 by default), and
 * `-- --write` writes the table of `docs/proof.md`.
 *
 * The sender sends each event once, as GitHub does, and counts an event as accepted when it was answered with 2xx. The
 * agent is a server beside both that takes 300 ms for each event, and has done it if whoever gave it still waits then. A
 * kill is SIGKILL to the receiver and all that it started at the same moment, as at the end of a container; the receiver
 * starts again at once. An event is lost if it was accepted and never done, and doubled if it was done more than once.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { freePort } from '../../support/free-port.ts';
import { listening, peerFolder, PeerMissing, removeFolder, TOKEN } from '../bench/peers/peer.ts';
import { type Agent, type Prepared, type Receiver, RECEIVERS } from './receivers.ts';

const PAGE = new URL('../../../docs/proof.md', import.meta.url);
const BEGIN = '<!-- table: written by `npm run kills -- --write` -->';
const END = '<!-- end of table -->';
/** Between two events. */
const EVERY_MS = 150;
const AGENT_MS = 300;
/** A receiver lives this long between two kills, at least and at most, counted from the first event that it accepts. */
const LIFE_MS = [1000, 5000] as const;
/** The end has come when the agent was given nothing for so long. */
const QUIET_MS = 20_000;
/** A process namespace of its own, as a container has it. */
const NAMESPACE = ['--user', '--map-root-user', '--pid', '--mount-proc', '--fork', '--kill-child', '--'];
/** The slowest receiver takes 20 s on a quiet machine. */
const START_MS = 300_000;
/** No receiver may take longer, whatever happens. */
const LONGEST_MS = 20 * 60_000;

interface Result {
  readonly receiver: string;
  readonly version: string;
  readonly promises: string;
  readonly figures: Figures | undefined;
  readonly missing?: string;
}

interface Figures {
  readonly kills: number;
  readonly sent: number;
  readonly accepted: number;
  readonly lost: number;
  readonly doubled: number;
  /** Accepted events whose work began more than once, as a kill had cut it. */
  readonly begunAgain: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { kills: { type: 'string', default: '10' }, write: { type: 'boolean', default: false } },
});
const kills = Number(values.kills);
const chosen = RECEIVERS.filter(
  ({ name }) =>
    positionals.length === 0 || positionals.some((each) => name.toLowerCase().startsWith(each.toLowerCase())),
);
const results: Result[] = [];
for (const receiver of chosen) results.push(await prove(receiver));
const table = tableOf(results);
process.stdout.write(`${table}\n`);
if (values.write) await writePage(table);

async function prove(receiver: Receiver): Promise<Result> {
  const { name, promises } = receiver;
  const say = (text: string): void => void process.stderr.write(`${name}: ${text}\n`);
  const folder = await peerFolder();
  const agent = await startAgent();
  try {
    say('is being installed');
    const port = await freePort();
    const prepared = await receiver.prepare({ folder, port, agent });
    const figures = await killOften({ prepared, folder, port, agent }, say);
    return { receiver: name, version: prepared.version, promises, figures };
  } catch (error) {
    if (!(error instanceof PeerMissing)) throw error;
    say(`was not run: ${error.message}`);
    return { receiver: name, version: '', promises, figures: undefined, missing: error.message };
  } finally {
    agent.stop();
    await removeFolder(folder);
  }
}

interface Trial {
  readonly prepared: Prepared;
  readonly folder: string;
  readonly port: number;
  readonly agent: CountingAgent;
}

async function killOften(trial: Trial, say: (text: string) => void): Promise<Figures> {
  const { agent } = trial;
  const until = Date.now() + LONGEST_MS;
  let process = await start(trial);
  const sender = startSender(trial);
  try {
    for (let killed = 1; killed <= kills && Date.now() < until; killed += 1) {
      // It counts as up when it accepts again: some listen long before they can.
      const before = sender.accepted();
      while (sender.accepted() === before && Date.now() < until) await wait(20);
      await wait(between(...LIFE_MS));
      await killAll(process);
      say(`killed ${String(killed)} of ${String(kills)}; ${String(sender.sent())} events sent`);
      process = await start(trial);
    }
    await wait(LIFE_MS[1]);
    const { sent, accepted } = await sender.stop();
    while (Date.now() - agent.lastAt() < QUIET_MS && Date.now() < until) await wait(500);
    const times = accepted.map((id) => agent.done.get(id) ?? 0);
    return {
      kills,
      sent,
      accepted: accepted.length,
      lost: times.filter((count) => count === 0).length,
      doubled: times.filter((count) => count > 1).length,
      begunAgain: accepted.filter((id) => (agent.given.get(id) ?? 0) > 1).length,
    };
  } finally {
    await sender.stop();
    await killAll(process);
  }
}

async function start({ prepared, folder, port }: Trial): Promise<ChildProcess> {
  const { command, args, env } = prepared;
  const child = spawn('unshare', [...NAMESPACE, command, ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
  child.on('error', () => {});
  await listening(port, command, START_MS);
  return child;
}

/** Ends a receiver, and with it its namespace: the kernel ends all that is left in there. */
async function killAll(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

interface Sender {
  sent(): number;
  accepted(): number;
  stop(): Promise<{ readonly sent: number; readonly accepted: readonly string[] }>;
}

/** Sends events one by one without waiting for the answer before, each once, and notes which were accepted. */
function startSender({ prepared, port }: Trial): Sender {
  const accepted: string[] = [];
  const underWay = new Set<Promise<void>>();
  let sent = 0;
  const send = async (): Promise<void> => {
    sent += 1;
    const id = `event-${String(sent).padStart(6, '0')}`;
    const answer = await fetch(`http://127.0.0.1:${String(port)}${prepared.path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: prepared.body(id),
      signal: AbortSignal.timeout(10_000),
    }).catch(() => undefined);
    if (answer?.ok === true) accepted.push(id);
    await answer?.arrayBuffer().catch(() => undefined);
  };
  const timer = setInterval(() => {
    const sending = send();
    underWay.add(sending);
    void sending.finally(() => underWay.delete(sending));
  }, EVERY_MS);
  return {
    sent: () => sent,
    accepted: () => accepted.length,
    stop: async () => {
      clearInterval(timer);
      await Promise.all(underWay);
      return { sent, accepted };
    },
  };
}

interface CountingAgent extends Agent {
  /** How often the agent was given each event. */
  readonly given: ReadonlyMap<string, number>;
  /** How often whoever gave it an event still waited for the end. */
  readonly done: ReadonlyMap<string, number>;
  lastAt(): number;
  stop(): void;
}

/** Notes every event that it is given, and answers as a plain server or as a model, after some time. */
async function startAgent(): Promise<CountingAgent> {
  const given = new Map<string, number>();
  const done = new Map<string, number>();
  let lastAt = Date.now();
  const take = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of req) body += String(chunk);
    // Of a conversation, only the last message is new.
    const id = /event-\d{6}(?!.*event-\d{6})/s.exec(body)?.[0];
    if (id !== undefined) count(given, id);
    lastAt = Date.now();
    await wait(AGENT_MS);
    if (id !== undefined && !res.destroyed) count(done, id);
    if (req.url === '/work') res.end('done');
    else answerAsModel(res);
  };
  const server = createServer((req, res) => void take(req, res).catch(() => res.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    url: `${base}/work`,
    modelUrl: `${base}/v1`,
    given,
    done,
    lastAt: () => lastAt,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function count(times: Map<string, number>, id: string): void {
  times.set(id, (times.get(id) ?? 0) + 1);
}

function answerAsModel(res: ServerResponse): void {
  const chunk = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'agent' };
  const say = (delta: object, finish_reason: string | null): string =>
    `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  res.setHeader('content-type', 'text/event-stream');
  res.end(`${say({ role: 'assistant', content: 'done' }, null)}${say({}, 'stop')}data: [DONE]\n\n`);
}

function between(least: number, most: number): number {
  return least + Math.random() * (most - least);
}

function tableOf(all: readonly Result[]): string {
  const rows = all.map(({ receiver, version, promises, figures, missing }) => {
    const cells =
      figures === undefined
        ? ['not run', missing ?? '', '', '', '', '']
        : [
            figures.kills,
            figures.sent,
            figures.accepted,
            figures.lost,
            figures.doubled,
            figures.begunAgain,
          ].map(String);
    return `| ${[`${receiver} ${version}`.trim(), ...cells, promises].join(' | ')} |`;
  });
  const columns = [
    'receiver',
    'kills',
    'sent',
    'answered 2xx',
    'lost',
    'doubled',
    'begun again',
    'what it promises',
  ];
  return `| ${columns.join(' | ')} |\n| --- | --: | --: | --: | --: | --: | --: | --- |\n${rows.join('\n')}`;
}

async function writePage(text: string): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/proof.md has no "${BEGIN}" followed by "${END}"`);
  const today = new Date().toISOString().slice(0, 10);
  const section = `${BEGIN}\n\nOn ${today}, Node ${process.versions.node}:\n\n${text}\n\n`;
  const options = { ...(await resolveConfig(PAGE)), parser: 'markdown' };
  await writeFile(PAGE, await format(page.slice(0, begin) + section + page.slice(end), options));
}
