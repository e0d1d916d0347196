import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { InboxPage } from '../../../src/frontends/console/protocol.ts';
import type { Part, Row } from '../../support/parts.ts';
import { freePort } from '../../support/free-port.ts';
import { startServer, stopServer, type StartedServer } from './child.ts';
import { percentile, withSpread } from './figures.ts';
import { runLoad } from './load.ts';
import { readThreadTimes } from './thread-times.ts';

/** Processes, one after the other: V8 compiles the same code better in one than in another. */
const SETS = 3;
/** Times in a set that each form has its turns: once forward and once backward. */
const ROUNDS = 4;
const TURN_SECONDS = 0.6;
const WARM_UP_SECONDS = 2;
/** What opening a page starts, and what the turn before left to write, is not what a turn costs. */
const SETTLE_MS = 400;
const CONNECTIONS = 64;
const TOKEN = 'bench-token-0123456789abcdef';

/** What is sent to one process: nothing is kept of the paths `none` and `again`, and of `kept` what is kept by default. */
interface Form {
  readonly name: string;
  readonly path: 'none' | 'again' | 'kept';
  readonly isOpen?: boolean;
}

const NOTHING_KEPT: Form = { name: 'nothing is kept', path: 'none' };
const AGAIN: Form = { name: 'the same by another path', path: 'again' };
const CLOSED: Form = { name: 'the default is kept, nobody has the console open', path: 'kept' };
const OPEN: Form = { name: 'the same with a page of the console open', path: 'kept', isOpen: true };
const FORMS = [NOTHING_KEPT, AGAIN, CLOSED, OPEN];

/**
 * What an open console, and what is kept, costs those who send hooks: short turns on one warm service. Two processes
 * that do the same differ by more than what is measured.
 */
export const consolePart: Part = {
  name: 'console',
  run: async (progress) => {
    const measured = new Map<Form, Measured[]>(FORMS.map((form) => [form, []]));
    for (let set = 0; set < SETS; set += 1) {
      const service = await startWarm();
      try {
        for (let round = 0; round < ROUNDS; round += 1) {
          // Who comes first in a round has the machine as the one before left it.
          const first = round % FORMS.length;
          const found = await takeTurns(service, [...FORMS.slice(first), ...FORMS.slice(0, first)]);
          for (const [form, one] of found) measured.get(form)?.push(one);
          const rates = FORMS.map((form) => Math.round(found.get(form)?.rate ?? Number.NaN));
          progress(`set ${set + 1}/${SETS}, round ${round + 1}/${ROUNDS}: ${rates.join(', ')} a second`);
        }
      } finally {
        await service.stop();
      }
    }
    return [
      ...[...measured].map(([{ name }, all]): Row => {
        const rate = withSpread(
          all.map((one) => one.rate),
          (value) => `${Math.round(value)}`,
        );
        const micros = withSpread(
          all.map((one) => one.mainMicros),
          (value) => value.toFixed(0),
        );
        return { what: name, figure: `${rate} a second, main thread ${micros} us a request` };
      }),
      ratioRow('noise: processor time of two that keep nothing', measured, { of: [AGAIN, NOTHING_KEPT] }),
      ratioRow('processor time with the default of what is kept against none', measured, {
        of: [CLOSED, NOTHING_KEPT],
        aim: 1.05,
      }),
      ratioRow('processor time with an open console against none', measured, { of: [OPEN, CLOSED] }),
      ratioRow('noise: throughput of two that keep nothing', measured, {
        of: [AGAIN, NOTHING_KEPT],
        figure: 'rate',
      }),
      ratioRow('throughput with the page open against closed', measured, {
        of: [OPEN, CLOSED],
        figure: 'rate',
        aim: 0.97,
      }),
    ];
  },
};

interface Measured {
  readonly rate: number;
  /** Processor time of the main thread for a request: a busy machine changes it less than the rate. */
  readonly mainMicros: number;
}

interface Compared {
  readonly of: readonly [Form, Form];
  /** Default `mainMicros`. */
  readonly figure?: keyof Measured;
  readonly aim?: number;
}

/**
 * The median over the rounds, and where half of them lie: a round that another program disturbed says nothing, and one
 * in which the service was not reached at all is not counted.
 */
function ratioRow(
  what: string,
  measured: ReadonlyMap<Form, readonly Measured[]>,
  { of: [one, other], figure = 'mainMicros', aim }: Compared,
): Row {
  const others = measured.get(other) ?? [];
  const factors = (measured.get(one) ?? [])
    .map((each, round) => each[figure] / (others[round]?.[figure] ?? Number.NaN))
    .filter((factor) => Number.isFinite(factor) && factor > 0);
  const [low, value, high] = [0.25, 0.5, 0.75].map((share) => percentile(factors, share)) as [
    number,
    number,
    number,
  ];
  const better = figure === 'rate' ? 'higher' : 'lower';
  const met = aim !== undefined && (better === 'lower' ? value <= aim : value >= aim);
  return {
    what,
    figure: `${value.toFixed(3)} times (half of ${factors.length} rounds: ${low.toFixed(3)} to ${high.toFixed(3)})`,
    ...(aim !== undefined && { aim: { text: `${aim}`, met } }),
    ratio: { value, better },
  };
}

/** A service that has compiled what it runs. */
interface Warm {
  readonly pid: number;
  load(path: Form['path'], seconds: number): Promise<number>;
  /** Resolves to how to leave the page. */
  open(): Promise<() => void>;
  stop(): Promise<void>;
}

/**
 * Each form has a turn, and another one in the opposite order, so that a machine that grows busy is nobody's fault.
 * Decisions that are written after a turn are not counted: that is as much for each form.
 */
async function takeTurns(
  { pid, load, open }: Warm,
  forms: readonly Form[],
): Promise<ReadonlyMap<Form, Measured>> {
  const spent = forms.map((form) => ({ form, requests: 0, micros: 0 }));
  for (const turn of [...spent, ...spent.toReversed()]) {
    const leave = turn.form.isOpen === true ? await open() : (): void => undefined;
    await setTimeout(SETTLE_MS);
    const before = await readThreadTimes(pid);
    const requests = await load(turn.form.path, TURN_SECONDS);
    const { main } = await readThreadTimes(pid);
    leave();
    turn.micros += (main - before.main) * 1e6;
    turn.requests += requests;
  }
  return new Map(
    spent.map(({ form, requests, micros }) => [
      form,
      { rate: requests / (2 * TURN_SECONDS), mainMicros: micros / requests },
    ]),
  );
}

async function startWarm(): Promise<Warm> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const [port, consolePort] = [await freePort(), await freePort()];
  const service = await startService(folder, { port, consolePort });
  const load = async (path: Form['path'], seconds: number): Promise<number> => {
    const { requests, statuses } = await runLoad({
      host: '127.0.0.1',
      port,
      path: `/hooks/${path}`,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: '{"text":"disk is 91% full","kind":"disk","at":{"host":"db-1","devices":["sda","sdb"]}}',
      connections: CONNECTIONS,
      // All are counted, as their processor time is.
      warmupSeconds: 0,
      seconds,
    });
    if (Object.keys(statuses).some((status) => status !== '200')) throw new Error(JSON.stringify(statuses));
    return requests;
  };
  for (const { path } of FORMS) await load(path, WARM_UP_SECONDS);
  const stop = async (): Promise<void> => {
    await stopServer(service);
    await rm(folder, { recursive: true, force: true });
  };
  return { pid: service.child.pid ?? 0, load, open: () => openPage(folder, consolePort), stop };
}

interface Listening {
  readonly port: number;
  readonly consolePort: number;
}

async function startService(folder: string, { port, consolePort }: Listening): Promise<StartedServer> {
  const main = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
  const config = join(folder, 'sluice.yaml');
  const mapping = (path: Form['path']): string =>
    `{id: ${path}, match: {path: ${path}, when: {"==": [{var: kind}, disk]}}, action: wake, wakeMode: next-heartbeat,` +
    ` textTemplate: "{{at.host}}: {{text}}"${path === 'kept' ? '' : ', keepRequests: none'}}`;
  const text = `
hooks: {enabled: true, token: ${TOKEN}, mappings: [${(['none', 'again', 'kept'] as const).map(mapping).join(', ')}]}
console: {enabled: true, port: ${consolePort}}
log: {level: info}
gateway: {heartbeat: {everySeconds: 0}, events: {maxPending: 10000000}}
`;
  await writeFile(config, text);
  return startServer([main, 'serve', '-c', config, '--port', String(port)]);
}

/** As a page looks for what is new, and at what became of rows. */
const LOOK_MS = 1_000;
const LOOKED_AT = 200;

/** Reads what an open page reads: the list, then what comes and what became of rows. Resolves to how to leave. */
async function openPage(folder: string, port: number): Promise<() => void> {
  const origin = `http://127.0.0.1:${port}`;
  const key = (await readFile(join(folder, '.sluice/console-key'), 'utf8')).trim();
  const session = await fetch(`${origin}/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ key }),
  });
  const { token } = (await session.json()) as { readonly token: string };
  const headers = { 'x-sluice-session': token };
  const leaving = new AbortController();
  const list = await fetch(`${origin}/api/inbox`, { headers });
  const { rows } = (await list.json()) as Pick<InboxPage, 'rows'>;
  const ids = rows.flatMap(({ work = [] }) => work).slice(0, LOOKED_AT);
  const look = (): Promise<unknown> =>
    fetch(`${origin}/api/inbox?limit=100&ids=${ids.join(',')}`, { headers, signal: leaving.signal })
      .then((answer) => answer.arrayBuffer())
      .catch(() => undefined);
  const looking = setInterval(() => void look(), LOOK_MS);
  return () => {
    clearInterval(looking);
    leaving.abort();
  };
}
