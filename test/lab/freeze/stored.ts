/** Requests that a service took, refused or merged, as `requests` and `explain` tell of them afterwards. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startService } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { cli } from '../../support/cli-terminal.ts';
import { freezeList, freezeStored } from './commands.ts';
import { inFolder, type Task } from './families.ts';
import type { CaseRecord } from './record.ts';
import { listIn } from '../../support/output-check.ts';
import { serviceAdvice } from '../../../src/frontends/cli/lazy-advice.ts';

const TOKEN = 'a-hook-token-0123456789';

const CONFIG = `hooks:
  enabled: true
  token: ${TOKEN}
  defaults: { deliver: false }
server: { port: 0 }
storage: { keepRequests: { which: all } }
gateway: { runner: { kind: echo } }
`;

const MAPPINGS = `
- { id: notice, match: { path: intercom }, dedupe: body, messageTemplate: '{{text}}' }
- { id: reply, match: { path: chat }, sessionKey: 'hook:chat:{{payload.id}}', messageTemplate: '{{text}}' }
- { id: order, match: { path: shop }, sessionKey: 'hook:shop:{{order.id}}', messageTemplate: '{{order.titel}}' }
- { id: bill, match: { path: bill }, dedupe: { key: '{{data.id}}' }, messageTemplate: '{{status}}' }
- { id: beat, match: { path: beat }, dedupe: { key: '{{monitor.id}}' }, messageTemplate: '{{msg}}' }
- { id: taken, match: { path: taken, when: { and: [{ '!!': [{ var: payload.id }] }, { '==': [{ var: payload.state }, open] }] } }, messageTemplate: '{{n}} {{status}}' }
- { id: monitor, match: { path: datadog }, debounce: { key: '{{payload.id}}', seconds: 1 }, messageTemplate: '{{host}}' }
- { id: items, match: { path: items }, forEach: payload.items, messageTemplate: '{{item.nam}}' }
- { id: wake, match: { path: wakes }, action: wake, textTemplate: '{{text}}' }
- { id: signed, match: { path: signed }, verify: { scheme: github, secrets: ['\${GITHUB_SECRET}'] }, messageTemplate: '{{action}}' }
- { id: quiet, match: { path: quiet }, action: skip }
`;

const SIGNED = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };

interface Sent {
  readonly path: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const notice = {
  app_id: 'a',
  id: 'notif_1',
  text: 'Where is my invoice?',
  delivery_attempts: 1,
  delivery_status: 'pending',
};
const alert = {
  account_id: 7,
  id: '7712345600011111',
  alert_id: '91234567',
  host: 'web-1',
  transition: 'Triggered',
};
const bill = { id: 'evt_1', data: { id: 'in_1' }, status: 'open' };

/** In the order they are sent; each stands beside those that it is compared with. */
const SENT: readonly Sent[] = [
  { path: 'intercom', body: notice },
  { path: 'intercom', body: { ...notice, delivery_attempts: 2, delivery_status: 'retry' } },
  { path: 'intercom', body: { ...notice, id: 'notif_2', text: 'Thanks' } },
  { path: 'chat', body: { id: 'm1', thread: 't1', text: 'Hello' } },
  { path: 'chat', body: { id: 'm2', thread: 't1', text: 'Are you there?' } },
  { path: 'shop', body: { order: { id: 1, title: 'Chair' } } },
  { path: 'shop', body: { order: { number: 2, title: 'Table' } } },
  { path: 'bill', body: bill },
  { path: 'bill', body: { ...bill, id: 'evt_2', status: 'paid' } },
  { path: 'bill', body: { id: 'evt_3', status: 'void' } },
  { path: 'beat', body: { monitor: { id: 4 }, heartbeat: { time: '2026-01-01 10:00:00' }, msg: 'down' } },
  { path: 'beat', body: { monitor: { id: 4 }, heartbeat: { time: '2026-01-01 11:00:00' }, msg: 'up' } },
  { path: 'taken', body: { id: 1, n: 1, status: 'open' } },
  { path: 'taken', body: { id: 0, n: 2, state: 'Open' } },
  { path: 'taken', body: { id: 3, n: 3, state: 'open' } },
  { path: 'datadog', body: alert },
  { path: 'datadog', body: { ...alert, id: '7712345600022222', host: 'web-2' } },
  { path: 'items', body: { items: [{ name: 'a' }, { name: 'b' }] } },
  { path: 'items', body: { items: { name: 'a' } } },
  { path: 'items', body: { entries: [{ name: 'a' }] } },
  { path: 'wakes', body: { text: 'Look at the mail' } },
  { path: 'wakes', body: { title: 'Look at the mail' } },
  { path: 'signed', body: { action: 'opened' }, headers: SIGNED },
  { path: 'signed', body: { action: 'opened' } },
  { path: 'quiet', body: {} },
  { path: 'shops', body: { order: { id: 1 } } },
  { path: 'nowhere', body: { a: 1 } },
  { path: 'agent', body: { message: 'What is due?', modle: 'opus' } },
  { path: 'agent', body: { text: 'What is due?' } },
  { path: 'agent', body: { message: 'What is due?', timeoutSeconds: 'soon' } },
  { path: 'wake', body: { text: 'Look', mode: 'later' } },
];

interface Store {
  readonly cwd: string;
  readonly requests: readonly string[];
  readonly runs: readonly string[];
}

/** Runs that the requests become. */
const MOST_RUNS = 20;

export function storedTasks(work: string): readonly Task[] {
  let store: Promise<Store> | undefined;
  const task = (name: string, act: (record: CaseRecord, store: Store) => Promise<void>): Task => ({
    name: `stored/${name}`,
    record: async (record) => {
      const made = await (store ??= makeStore(work));
      await inFolder(made.cwd, () => act(record, made));
    },
  });
  return [
    task('requests', (record, { cwd }) => freezeList(record, 'requests', { cwd })),
    ...SENT.map(({ path }, index) =>
      task(`request-${String(index).padStart(2, '0')}-${path}`, (record, { cwd, requests }) =>
        freezeStored(record, ['explain', requests[index] as string], { cwd, what: 'explain ID' }),
      ),
    ),
    ...Array.from({ length: MOST_RUNS }, (_, index) =>
      task(`run-${String(index).padStart(2, '0')}`, async (record, { cwd, runs }) => {
        const id = runs[index];
        record.facts['is there'] = id !== undefined;
        if (id !== undefined) await freezeStored(record, ['explain', id], { cwd, what: 'explain RUN' });
      }),
    ),
  ];
}

async function makeStore(work: string): Promise<Store> {
  const cwd = join(work, 'store');
  mkdirSync(join(cwd, 'mappings'), { recursive: true });
  writeFileSync(join(cwd, 'sluice.yaml'), CONFIG);
  writeFileSync(join(cwd, 'mappings/all.yaml'), MAPPINGS);
  const service = await startService({
    ...serviceAdvice,
    configFile: join(cwd, 'sluice.yaml'),
    env: { GITHUB_SECRET: 'not-the-secret-of-anyone' },
    log: createLogger({ destination: { write: () => true } }),
  });
  try {
    const requests: string[] = [];
    // oxlint-disable-next-line no-await-in-loop -- their order is what is told of them
    for (const sent of SENT) requests.push(await send(service.url, sent));
    return { cwd, requests, runs: await finishedRuns(cwd) };
  } finally {
    await service.stop();
  }
}

async function send(url: string, { path, body, headers = {} }: Sent): Promise<string> {
  const isSigned = path === 'signed';
  const response = await fetch(`${url}/hooks/${path}`, {
    method: 'POST',
    headers: {
      ...(isSigned ? {} : { authorization: `Bearer ${TOKEN}` }),
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return String(response.headers.get('x-request-id'));
}

const WAIT_MS = 60_000;

/** The ids of the runs, in the order they were accepted in, when none is under way any more. */
async function finishedRuns(cwd: string): Promise<readonly string[]> {
  const endAt = performance.now() + WAIT_MS;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- asks again until all are finished
    const { out } = await cli(['runs', '--json', '--kind', 'hook', '--limit', '200'], { cwd });
    const runs = listIn<{ readonly id: string; readonly state: string; readonly acceptedAt: string }>(out);
    const isOver = runs.length > 0 && runs.every(({ state }) => state === 'completed' || state === 'dead');
    if (isOver) return runs.toSorted((a, b) => a.acceptedAt.localeCompare(b.acceptedAt)).map(({ id }) => id);
    if (performance.now() > endAt)
      throw new Error(`runs are still under way: ${runs.map(({ state }) => state).join(', ')}`);
    // oxlint-disable-next-line no-await-in-loop
    await new Promise((done) => setTimeout(done, 200));
  }
}
