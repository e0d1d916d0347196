import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Part, Row } from '../support/parts.ts';
import { freePort } from '../support/free-port.ts';
import { startServer, stopServer, type StartedServer } from './child.ts';
import { percent, withSpread } from './figures.ts';
import { runLoad } from './load.ts';

const ROUNDS = 3;
const SECONDS = 3;
const CONNECTIONS = 64;
const TOKEN = 'bench-token-0123456789abcdef';

const WITHOUT = 'service without a console';
const CLOSED = 'with a console that nobody has open';
const OPEN = 'with a console that is open';

/** What an open console costs those who send hooks: the same service and load, the three taking turns. */
export const consolePart: Part = {
  name: 'console',
  run: async (progress) => {
    const rates = new Map<string, number[]>();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const name of [WITHOUT, CLOSED, OPEN]) {
        const rate = await measure(name);
        rates.set(name, [...(rates.get(name) ?? []), rate]);
        progress(`round ${round + 1}/${ROUNDS}  ${name}  ${Math.round(rate)}/s`);
      }
    }
    return [
      ...[...rates].map(([what, all]): Row => ({
        what,
        figure: `${withSpread(all, (value) => `${Math.round(value)}`)} a second`,
      })),
      shareRow('an open console against none', rates),
    ];
  },
};

function shareRow(what: string, rates: ReadonlyMap<string, readonly number[]>): Row {
  const without = rates.get(WITHOUT) ?? [];
  const shares = (rates.get(OPEN) ?? []).map((rate, round) => rate / (without[round] ?? Number.NaN));
  return { what, figure: withSpread(shares, percent) };
}

async function measure(name: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const [port, consolePort] = [await freePort(), await freePort()];
  const service = await startService(folder, { port, consolePort, hasConsole: name !== WITHOUT });
  const leave = name === OPEN ? await openPage(folder, consolePort) : (): void => undefined;
  try {
    const { requestsPerSecond, statuses } = await runLoad({
      host: '127.0.0.1',
      port,
      path: '/hooks/wake',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: '{"text":"disk is 91% full","mode":"next-heartbeat"}',
      connections: CONNECTIONS,
      warmupSeconds: 1,
      seconds: SECONDS,
    });
    if (Object.keys(statuses).some((status) => status !== '200')) throw new Error(JSON.stringify(statuses));
    return requestsPerSecond;
  } finally {
    leave();
    await stopServer(service);
    await rm(folder, { recursive: true, force: true });
  }
}

interface Listening {
  readonly port: number;
  readonly consolePort: number;
  readonly hasConsole: boolean;
}

async function startService(
  folder: string,
  { port, consolePort, hasConsole }: Listening,
): Promise<StartedServer> {
  const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
  const config = join(folder, 'sluice.yaml');
  const text = `
hooks: {enabled: true, token: ${TOKEN}}
console: {enabled: ${hasConsole}, port: ${consolePort}}
log: {level: info}
gateway: {heartbeat: {everySeconds: 0}, events: {maxPending: 10000000}}
`;
  await writeFile(config, text);
  return startServer([main, 'serve', '-c', config, '--port', String(port)]);
}

/** Reads what an open page reads: the list, then everything that comes. Resolves to how to leave. */
async function openPage(folder: string, port: number): Promise<() => void> {
  const origin = `http://127.0.0.1:${port}`;
  const key = (await readFile(join(folder, '.sluice/console-key'), 'utf8')).trim();
  const session = await fetch(`${origin}/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ key }),
  });
  const headers = { cookie: session.headers.get('set-cookie')?.split(';')[0] ?? '' };
  const leaving = new AbortController();
  const list = await fetch(`${origin}/api/inbox`, { headers });
  const { cursor } = (await list.json()) as { readonly cursor: string };
  const feed = await fetch(`${origin}/api/feed?after=${cursor}`, { headers, signal: leaving.signal });
  void feed.body?.pipeTo(new WritableStream()).catch(() => undefined);
  return () => leaving.abort();
}
