/** Commands that look into the store of a running service, or change what waits in it. */
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import type { Service } from '../../../src/service/startup/startup.ts';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { type Bench, openBench, serveBench, TOKEN, waitFor } from '../../support/cli-service.ts';
import type { CliRun } from '../../support/cli-terminal.ts';
import { agent, failure, NOW, wake, work } from '../../support/storage-builders.ts';
import { listIn } from '../../support/output-check.ts';

const CONFIG = `
hooks:
  enabled: true
  token: \${SLUICE_HOOK_TOKEN}
  mappings:
    - id: order
      match: {path: order, when: {"===": [{var: kind}, paid]}}
      name: Order
      sessionKey: "hook:order:{{id}}"
      deliver: false
      messageTemplate: "Order {{id}}: {{note}}"
    - id: lost
      match: {path: lost}
      runner: busy
      deliver: false
      messageTemplate: "{{text}}"
server: {port: 0}
gateway:
  runners:
    busy: {kind: command, argv: [/bin/sh, -c, exit 75], retryExitCodes: [75]}
`;
const BROKEN = `export default ({ payload }: { payload: { user: { name: string } } }) => {
  console.log('secret payload text');
  return { message: payload.user.name };
};
`;
const ENV = { SLUICE_HOOK_TOKEN: TOKEN };

interface Served {
  readonly bench: Bench;
  readonly service: Service;
}

/** For the tests that need no other: each looks at what it sent itself. */
const KEPT = `${CONFIG}storage: {keepRequests: {which: all}}\n`;
const sharedBench = openBench({ 'sluice.yaml': KEPT }, afterAll);
const shared: Served = { bench: sharedBench, service: await serveBench(sharedBench, [], afterAll) };

const json = (run: CliRun) => listIn(run.out);

async function open(files: Readonly<Record<string, string>>, log: string[] = []): Promise<Served> {
  const bench = openBench(files);
  return { bench, service: await serveBench(bench, log) };
}

/** Sends one request file through the command line, again where the machine is too busy, and gives the answer. */
function send(request: string, { bench, service }: Served = shared): Promise<Record<string, any>> {
  bench.put('request.yaml', request);
  return waitFor(async () => {
    const args = ['send', 'request.yaml', '--against', service.url, '--json'];
    const answer = json(await bench.run(args, { env: ENV }))[0];
    return answer?.['status'] === 503 ? undefined : answer;
  });
}

/** A run once it has ended. */
const completed = (runId: unknown, { bench }: Served = shared): Promise<Record<string, unknown>> =>
  waitFor(async () =>
    json(await bench.run(['runs', '--json', '--state', 'completed'])).find(({ id }) => id === runId),
  );

test('send answers with status, body and request id, and 1 where the answer is an error', async () => {
  const { bench, service } = shared;
  bench.put(
    'two.yaml',
    'deliveries:\n  - {path: wake, body: {text: one}}\n  - {path: order, body: {kind: open}}\n',
  );
  const plain = await bench.run(['send', 'two.yaml', '--against', service.url], { env: ENV });
  expect(plain).toMatchObject({ exitCode: 1, err: '' });
  expect(plain.out).toMatch(
    /^200 \{.*"ok":true.*\} {2}\(request [0-9a-f-]{36}\)\n404 \{.*"code":"no_mapping_matched"/,
  );
  const listed = await bench.run(['send', 'two.yaml', '--against', `${service.url}/`, '--json'], {
    env: ENV,
  });
  expect(json(listed)).toEqual([
    { status: 200, requestId: expect.any(String), body: expect.objectContaining({ ok: true }) },
    { status: 404, requestId: expect.any(String), body: expect.objectContaining({ ok: false }) },
  ]);
  expect(plain.out + listed.out).not.toContain(TOKEN);
});

test('send says what is wrong where no service answers, or no token is known', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG, 'request.yaml': 'path: wake\nbody: {text: x}\n' });
  const nobody = await bench.run(['send', 'request.yaml', '--against', 'http://127.0.0.1:1'], { env: ENV });
  expect(nobody).toMatchObject({ exitCode: 3, out: '' });
  expect(nobody.err).toMatch(/no answer from http:\/\/127\.0\.0\.1:1\/hooks/);
  const tokenless = await bench.run(['send', 'request.yaml']);
  expect(tokenless).toMatchObject({ exitCode: 1, out: '' });
  expect(tokenless.err).toContain('SLUICE_HOOK_TOKEN');
});

test('runs and events show what was done, with texts only where they are wanted', async () => {
  const { bench } = shared;
  const answer = await send('path: order\nbody: {id: 7, kind: paid, note: private words, source: shop}\n');
  expect(answer).toMatchObject({ status: 202, body: { ok: true } });
  const run = await completed(answer['body'].runId);
  expect(run).toMatchObject({
    id: answer['body'].runId,
    kind: 'hook',
    mapping: 'order',
    name: 'Order',
    sessionKey: 'hook:order:7',
    outcome: 'ok',
    message: 'Order 7: private words',
    reply: expect.stringContaining('private words'),
    attempts: 1,
    lastError: null,
  });
  const summaries = json(await bench.run(['events', '--json', '--mapping', 'order']));
  expect(summaries.filter(({ runId }) => runId === run['id'])).toEqual([
    expect.objectContaining({
      kind: 'summary',
      text: expect.stringContaining('private words'),
    }),
  ]);
  for (const command of ['runs', 'events']) {
    const bare = await bench.run([command, '--json', '--no-text']);
    expect(bare.out).not.toContain('private words');
    expect(bare.out).not.toContain('shop');
    expect(json(bare).filter(({ id, runId }) => (runId ?? id) === run['id'])).toHaveLength(1);
    const table = await bench.run([command]);
    expect(table.out).not.toContain('private words');
    expect(table.out).toMatch(/^id +kind /);
    expect((await bench.run([command, '--json', '--limit', '1', '--mapping', 'other'])).out).toContain(
      ':[]}\n',
    );
  }
  expect((await bench.run(['runs', '--session', 'hook:order:7', '--json'])).out).toContain('Order 7');
});

test('requests lists what was decided, and explain ID says where a miss failed, without values', async () => {
  const served = await open({ 'sluice.yaml': `${CONFIG}storage: {keepRequests: {which: none}}\n` });
  const { bench } = served;
  const missed = await send('path: order\nbody: {kind: private words}\n', served);
  const taken = await send('path: order\nbody: {kind: paid, id: 1}\n', served);
  const list = await waitFor(async () => {
    const found = json(await bench.run(['requests', '--json']));
    return found.length === 2 ? found : undefined;
  });
  expect(list).toEqual([
    expect.objectContaining({
      id: taken['requestId'],
      requestId: taken['requestId'],
      mapping: 'order',
      outcome: 'accepted',
      mappingId: 'order',
      status: 202,
    }),
    expect.objectContaining({
      requestId: missed['requestId'],
      outcome: 'rejected',
      code: 'no_mapping_matched',
      missed: [
        expect.objectContaining({
          mappingId: 'order',
          part: 'when',
          place: expect.stringMatching(/sluice\.yaml:7:\d+/),
        }),
      ],
    }),
  ]);
  expect((await bench.run(['requests', '--json', '--state', 'accepted'])).out).not.toContain(
    missed['requestId'],
  );
  const explained = await bench.run(['explain', missed['requestId'], '--all']);
  expect(explained.exitCode).toBe(0);
  expect(explained.out).toContain('answered 404 no_mapping_matched');
  expect(explained.out).toMatch(
    /✗ order: when .*"===".* did not hold: another value was sent {2}\S*sluice\.yaml:7:\d+\n/,
  );
  expect(explained.out).toContain('set it to shapes, failed or all');
  const asJson = JSON.parse((await bench.run(['explain', missed['requestId'], '--json'])).out) as object;
  expect(asJson).toMatchObject({ decision: { requestId: missed['requestId'], status: 404 } });
  for (const text of [explained.out, JSON.stringify(list), (await bench.run(['requests'])).out]) {
    expect(text).not.toContain('private words');
  }
  const unknown = await bench.run(['explain', '00000000-0000-0000-0000-000000000000']);
  expect(unknown).toMatchObject({ exitCode: 1, out: '' });
  expect(unknown.err).toContain('the last decisions');
});

test('explain ID and runs ID are one page: why it was judged so, and what became of it', async () => {
  const { bench } = shared;
  const body = 'headers: {x-hub-signature-256: sha256=0123456789}\nbody: {id: 8, kind: paid}\n';
  const answer = await send(`path: order\n${body}`);
  const requestId = answer['requestId'] as string;
  const runId = answer['body'].runId as string;
  await completed(runId);
  const page = await waitFor(async () => {
    const { out } = await bench.run(['explain', requestId, '--all']);
    return out.includes('was kept') && out.includes('completed') ? out : undefined;
  });
  expect(page).toContain('· messageTemplate has nothing for note');
  expect(page).toContain('not kept, because they are secrets: x-hub-signature-256');
  expect(page).not.toContain('sha256=0123456789');
  expect(page).toMatch(
    /What became of it:\nrun \S+ {2}Order {2}session hook:order:8, a conversation of mapping order\n {2}completed, ok after 1 attempt/,
  );
  expect(page).toContain('runner echo: echo, which answers with the message itself');
  expect(page).toContain('delivery none: deliver is false');
  expect((await bench.run(['runs', runId])).out).toBe((await bench.run(['explain', runId])).out);

  // The mapping changes: both judgements are shown.
  onTestFinished(() => bench.put('sluice.yaml', KEPT));
  bench.put('sluice.yaml', KEPT.replace('paid]', 'settled]'));
  const changed = (await bench.run(['explain', requestId, '--all'])).out;
  expect(changed).toContain('rejected: 404 no_mapping_matched');
  expect(changed).toContain('then: accepted, mapping order, 1 action');
  const asJson = JSON.parse((await bench.run(['explain', requestId, '--json'])).out) as object;
  expect(asJson).toMatchObject({
    decision: { status: 202, empty: [{ field: 'messageTemplate', expression: 'note' }] },
    judged: { outcome: 'accepted', mapping: { id: 'order' } },
    evaluation: { outcome: 'rejected' },
    runs: [{ id: runId, outcome: 'ok' }],
  });
});

test('a request whose transform failed is kept, explained, corrected, replayed and sent again', async () => {
  const log: string[] = [];
  const config = CONFIG.replace(
    'mappings:',
    'mappings:\n    - {id: broken, match: {path: broken}, transform: {module: broken.ts}}',
  );
  const served = await open({ 'sluice.yaml': config, 'transforms/broken.ts': BROKEN }, log);
  const { bench, service } = served;
  const failed = await send('path: broken\nbody: {usr: {name: private words}}\n', served);
  expect(failed).toMatchObject({ status: 500, body: { code: 'transform_failed' } });
  expect(JSON.stringify(failed)).not.toContain('Cannot read');
  const id = failed['requestId'] as string;
  const explained = await waitFor(async () => {
    const run = await bench.run(['explain', id, '--all']);
    return run.out.includes('was kept') ? run : undefined;
  });
  expect(explained.exitCode).toBe(1);
  expect(explained.out).toContain('transform_failed');
  expect(explained.out).toMatch(/broken\.ts:3:\d+/);
  const replayed = await bench.run(['replay', id]);
  expect(replayed.exitCode).toBe(1);
  expect(replayed.out).toContain('Cannot read properties of undefined');

  bench.put(
    'transforms/broken.ts',
    BROKEN.replace('payload.user.name', "'Hello ' + (payload as any).usr.name"),
  );
  const corrected = await bench.run(['replay', id, '--json']);
  expect(corrected).toMatchObject({ exitCode: 0 });
  expect(listIn(corrected.out)).toMatchObject([{ outcome: 'accepted' }]);
  expect(corrected.out).toContain('Hello private words');

  expect(await service.reload()).toMatchObject({ kind: 'live' });
  const sent = await bench.run(['replay', id, '--against', service.url, '--json'], { env: ENV });
  const [answer] = json(sent) as readonly Record<string, any>[];
  expect(json(sent)).toEqual([expect.objectContaining({ status: 202 })]);
  const replay = answer?.['requestId'] as string;
  expect((await bench.run(['explain', id])).out).toContain(`replayed as request ${replay} (accepted)`);
  expect((await bench.run(['explain', replay])).out).toContain(`replay of request ${id}`);
  expect(await completed(answer?.['body'].runId, served)).toMatchObject({
    message: 'Hello private words',
  });
  expect(log.join('')).not.toMatch(/private words|secret payload text|Cannot read/);
  const bare = await bench.run(['requests', '--json', '--no-text']);
  expect(bare.out).not.toMatch(/private words|secret payload text/);
});

test('the queue shows dead work, tries it again, and drops it after asking', async () => {
  const { bench } = shared;
  await send('path: lost\nbody: {text: private words}\n');
  const entry = await waitFor(
    async () => json(await bench.run(['queue', 'list', '--json', '--mapping', 'lost']))[0],
  );
  const id = entry['id'] as string;
  expect(entry).toMatchObject({ mapping: 'lost', message: 'private words' });
  await waitFor(async () =>
    json(await bench.run(['queue', '--json', '--mapping', 'lost']))[0]?.['lastError'] === null
      ? undefined
      : true,
  );
  const table = await bench.run(['queue']);
  expect(table.out).toContain(id);
  expect(table.out).not.toContain('private words');
  const shown = await bench.run(['queue', 'show', id, '--json']);
  expect(JSON.parse(shown.out)).toMatchObject({ run: { id, message: 'private words' }, outbox: [] });
  expect((await bench.run(['queue', 'show', id])).out).toMatch(
    /^id: .*\nkind: hook\n[^]*message: private words\n/,
  );
  const bare = await bench.run(['queue', 'show', id, '--no-text', '--json']);
  expect(bare.out).not.toContain('private words');
  expect(JSON.parse(bare.out)).toMatchObject({ run: { id, lastError: { code: expect.any(String) } } });

  // Nothing fits while its next attempt is under way.
  const again = await waitFor(async () => {
    const result = await bench.run(['queue', 'retry', id, '--json']);
    return result.exitCode === 0 ? result : undefined;
  });
  expect(again.out).toBe('{"version":1,"command":"queue retry","changed":1}\n');
  const unasked = await bench.run(['queue', 'drop', id]);
  expect(unasked).toMatchObject({ exitCode: 2 });
  expect(await bench.run(['queue', 'drop', id], { answers: ['no'] })).toMatchObject({
    exitCode: 0,
    err: 'nothing dropped\n',
  });
  await waitFor(async () =>
    (await bench.run(['queue', 'drop', '--mapping', 'lost', '--yes'])).out === '1 dropped\n'
      ? true
      : undefined,
  );
  expect((await bench.run(['queue', 'list', '--json', '--mapping', 'lost'])).out).toContain(':[]}\n');
  const [summary] = json(await bench.run(['events', '--json', '--mapping', 'lost']));
  expect(summary).toMatchObject({ text: expect.stringContaining('(dropped)') });
  expect(await bench.run(['queue', 'retry', id])).toMatchObject({ exitCode: 1 });
});

test('what the queue shows of a payload begins no line', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG });
  const storage = await openStorage(`sqlite:${join(bench.folder, '.sluice/sluice.db')}`);
  const text = [
    'a',
    '\nstate: completed',
    '\r\n::error::b',
    '\u2028c',
    '\u0085d',
    '\u001b[2Ke',
    '\u009b2Kf',
    '\n',
  ].join('');
  const run = agent({ message: text, name: text, sessionKey: `  ${text}`, model: `\n\n${text}` });
  await storage.accept(work([run]));
  const { out } = await bench.run(['queue', 'show', run.id]);
  expect(out).not.toMatch(/(?!\n)\p{Cc}|\u2028/u);
  const payload = out.split('\n').filter((line) => /state: completed|::error|\b[ace]$/.test(line));
  expect(payload.length).toBeGreaterThan(8);
  for (const line of payload) expect(line).toMatch(/^ +\| /);
  await storage.close();
});

test('the queue says which runs wait for an agent that is away, and tries it when asked', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG });
  const storage = await openStorage(`sqlite:${join(bench.folder, '.sluice/sluice.db')}`);
  const run = agent({ runner: 'busy' });
  await storage.accept(work([run]));
  const reason = { code: 'spawn_failed', message: 'no such command' };
  const retryAt = Date.now() + 60_000;
  await storage.saveHold({ runner: 'busy', since: NOW, ...reason, retryAt, tries: 1 });
  const queue = await bench.run(['queue']);
  expect(queue.out).toMatch(new RegExp(`^${run.id} .*queued +0 .* agent away`, 'm'));
  expect(queue.err).toMatch(
    /^agent busy is away since 20.* \(spawn_failed: no such command\), 1 run waits$/m,
  );
  expect(await bench.run(['queue', 'retry', run.id])).toMatchObject({ exitCode: 0, out: '1 due now\n' });
  const [hold] = await storage.listHolds('default');
  expect(hold?.retryAt).toBeLessThan(retryAt);
  await storage.close();
});

test('the queue shows system events that were parked, and brings them back', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG });
  const storage = await openStorage(`sqlite:${join(bench.folder, '.sluice/sluice.db')}`);
  const event = wake({ text: 'private words' });
  await storage.accept(work([event]));
  for (let turn = 1; turn <= 5; turn += 1) {
    await storage.claimEvents({ turnId: `t${turn}`, nowMs: NOW, maxEvents: 50, maxBytes: 64_000 });
    await storage.freeEvents(`t${turn}`, failure(NOW));
  }
  await storage.close();

  const [entry] = json(await bench.run(['queue', '--json']));
  expect(entry).toMatchObject({
    id: event.id,
    kind: 'wake',
    state: 'dead',
    attempts: 5,
    text: 'private words',
  });
  const table = await bench.run(['queue']);
  expect(table.out).toMatch(/wake\s+agent\s+dead\s+5\s+.*connection_refused/);
  expect(table.out).not.toContain('private words');
  expect(json(await bench.run(['queue', '--json', '--state', 'queued']))).toEqual([]);
  const shown = await bench.run(['queue', 'show', event.id, '--no-text', '--json']);
  expect(JSON.parse(shown.out)).toMatchObject({
    entry: { id: event.id, lastError: { code: 'connection_refused' } },
  });
  expect(shown.out).not.toContain('private words');
  expect((await bench.run(['queue', 'retry', event.id])).out).toBe('1 due now\n');
  expect((await bench.run(['queue', '--json'])).out).toContain(':[]}\n');
});

test('sessions lists, shows and forgets a conversation', async () => {
  const { bench } = shared;
  const answer = await send('path: order\nbody: {id: 9, kind: paid, note: private words}\n');
  await completed(answer['body'].runId);
  const sessions = json(await bench.run(['sessions', '--json'])).filter(({ key }) => key === 'hook:order:9');
  expect(sessions).toEqual([
    expect.objectContaining({ key: 'hook:order:9', owner: 'mapping:order', turns: expect.any(Number) }),
  ]);
  const turns = json(await bench.run(['sessions', 'show', 'hook:order:9', '--json']));
  expect(turns[0]).toMatchObject({ role: 'user', text: expect.stringContaining('private words') });
  await send('path: agent\nbody: {message: another owner, sessionKey: "hook:order:9"}\n');
  await waitFor(async () =>
    json(await bench.run(['sessions', '--json'])).some(({ owner }) => owner === 'request') ? true : undefined,
  );
  const ambiguous = await bench.run(['sessions', 'show', 'hook:order:9']);
  expect(ambiguous).toMatchObject({ exitCode: 2, out: '' });
  expect(ambiguous.err).toMatch(/2 sessions have the key .*--owner (mapping:order|request), or --owner/);
  const owned = ['hook:order:9', '--owner', 'request'];
  expect((await bench.run(['sessions', 'list', ...owned])).out).toContain('another owner');
  const ofRequests = json(await bench.run(['sessions', '--json', '--owner', 'request']));
  expect(ofRequests).toMatchObject([{ key: 'hook:order:9', owner: 'request' }]);
  expect(await bench.run(['sessions', 'clear', ...owned])).toMatchObject({ exitCode: 0, out: 'cleared\n' });
  expect(await bench.run(['sessions', 'clear', 'hook:order:9'])).toMatchObject({
    exitCode: 0,
    out: 'cleared\n',
  });
  expect(await bench.run(['sessions', 'show', 'hook:order:9'])).toMatchObject({ exitCode: 1, out: '' });
});

test.each([
  [['runs', '--limit', '0']],
  [['runs', '--state', 'lost']],
  [['events', '--state', 'queued']],
  [['requests', '--state', 'dead']],
  [['queue', 'list', '--state', 'completed']],
  [['queue', 'retry']],
  [['queue', 'drop', 'a', '--all', '--yes']],
  [['explain']],
  [['nothing']],
  [['runs', '--colour']],
  [['send', 'a.yaml', 'b.yaml']],
])('the command %j is wrong usage', async (args) => {
  const bench = openBench({ 'sluice.yaml': CONFIG });
  const result = await bench.run(args);
  expect(result).toMatchObject({ exitCode: 2, out: '' });
  expect(result.err).not.toBe('');
});
