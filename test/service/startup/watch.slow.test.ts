import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cli } from '../../support/cli-terminal.ts';
import { startServiceProcess, until, type ServiceProcess } from '../../support/service-process.ts';
import { listIn } from '../../support/output-check.ts';

const TOKEN = 'watch-token-0123456789';

let folder: string;
let service: ServiceProcess;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-watch-'));
  await writeFile(
    join(folder, 'sluice.yaml'),
    `
hooks:
  enabled: true
  token: ${TOKEN}
  mappings:
    - {id: slow, match: {path: slow}, runner: slow, messageTemplate: "{{id}}", deliver: false}
    - {id: batch, match: {path: batch}, runner: slow, forEach: items, messageTemplate: "{{item}}", deliver: false}
    - {id: refused, match: {path: refused}, runner: dash, messageTemplate: "{{id}}", model: -x, deliver: false}
    - {id: nowhere, match: {path: nowhere}, runner: echo, messageTemplate: "{{id}}", channel: telegram, to: "1"}
    - {id: note, match: {path: note}, action: wake, textTemplate: "{{id}}", wakeMode: next-heartbeat}
server: {stopGraceSeconds: 0.1}
gateway:
  heartbeat: {everySeconds: 0}
  runners:
    echo: {kind: echo}
    slow: {kind: command, argv: [sleep, "60"], maxRuns: 1}
    dash: {kind: command, argv: [cat, "{model}"]}
channels: {slack: {botToken: xoxb-1}}
metrics: {port: 0}
storage: {url: "sqlite:./store.db", maxBacklog: {runs: 6}}
`,
  );
  service = await startServiceProcess(folder);
});

afterEach(async () => {
  await service.end('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const post = (path: string, body: object): Promise<Response> =>
  fetch(`http://127.0.0.1:${service.port}/hooks/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify(body),
  });

interface Ready {
  readonly backlog: Readonly<Record<string, number>>;
  readonly dead: number;
}

async function ready(): Promise<Ready> {
  const response = await fetch(`http://127.0.0.1:${service.port}/readyz`);
  expect(response.status).toBe(200);
  return (await response.json()) as Ready;
}

async function scrape(): Promise<ReadonlyMap<string, number>> {
  const line = service.log.find((text) => text.includes('metricsUrl')) ?? '{}';
  const { metricsUrl = '' } = JSON.parse(line) as { metricsUrl?: string };
  const text = await (await fetch(metricsUrl)).text();
  return new Map(
    text
      .split('\n')
      .filter((row) => row !== '' && !row.startsWith('#'))
      .map((row) => [row.slice(0, row.lastIndexOf(' ')), Number(row.slice(row.lastIndexOf(' ') + 1))]),
  );
}

test('readyz, metrics and the queue show backlog, oldest age and dead work; a full backlog is 503 and stores nothing', async () => {
  expect((await post('refused', { id: 'r' })).status).toBe(202);
  expect((await post('nowhere', { id: 'n' })).status).toBe(202);
  expect((await post('note', { id: 'w' })).status).toBe(200);
  for (let number = 0; number < 4; number += 1) {
    expect((await post('slow', { id: `s${number}` })).status).toBe(202);
  }
  const shown = await until('one run under way and the dead ones', async () => {
    const state = await ready();
    return state.backlog['activeRuns'] === 1 && state.dead === 2 ? state : undefined;
  });
  expect(shown.backlog).toMatchObject({ queuedRuns: 3, deadRuns: 1, deadOutbox: 1, deadEvents: 0 });

  // A batch that does not fit is refused whole; what fits is taken.
  const full = await post('batch', { items: ['a', 'b', 'c'] });
  expect(full.status).toBe(503);
  expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await full.json()).toMatchObject({ code: 'backlog_full' });
  expect((await post('batch', { items: ['a', 'b'] })).status).toBe(202);
  expect((await post('slow', { id: 'late' })).status).toBe(503);

  const later = await until('some age', async () => {
    const { backlog } = await ready();
    // The answer is up to a second old.
    const isLater = backlog['queuedRuns'] === 5 && (backlog['oldestQueuedSeconds'] ?? 0) > 1;
    return isLater ? backlog : undefined;
  });
  expect(later).toMatchObject({ activeRuns: 1, deadRuns: 1, deadOutbox: 1 });
  const figures = await scrape();
  expect(figures.get('sluice_store_up')).toBe(1);
  expect(figures.get('sluice_work{kind="run",state="queued"}')).toBe(5);
  expect(figures.get('sluice_work{kind="run",state="active"}')).toBe(1);
  expect(figures.get('sluice_work{kind="run",state="dead"}')).toBe(1);
  expect(figures.get('sluice_work{kind="outbox",state="dead"}')).toBe(1);
  expect(figures.get('sluice_backlog_oldest_seconds')).toBeGreaterThan(1);
  expect(figures.get('sluice_backlog_bytes')).toBeGreaterThan(0);
  expect(figures.get('sluice_requests_total{outcome="accepted",status="202",mapping="slow"}')).toBe(4);

  const queue = await cli(['queue', 'list'], { cwd: folder });
  expect(queue.out).toMatch(/id\s+kind\s+mapping\s+state\s+attempts\s+age\s+next try\s+last error/i);
  expect(queue.out).toMatch(/run\s+refused\s+dead\s+1\s+\S+.*unsafe_argument/);
  expect(queue.out).toMatch(/delivery\s+dead\s+1\s+\S+.*not_configured/);
  expect(queue.out).toMatch(/run\s+slow\s+queued\s+0\s+\S.*agents busy/);

  // Dropping what waits makes room, and each dropped run posts its summary.
  expect((await cli(['queue', 'drop', '--mapping', 'batch', '--yes'], { cwd: folder })).out).toBe(
    '2 dropped\n',
  );
  expect((await post('slow', { id: 'late' })).status).toBe(202);
  const { out } = await cli(['events', '--json'], { cwd: folder });
  const dropped = listIn<{ text: string }>(out).filter(({ text }) => text.includes('(dropped)'));
  expect(dropped).toHaveLength(2);
});
