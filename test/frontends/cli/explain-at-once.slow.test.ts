import { expect, test } from 'vitest';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { openBench, serveBench, TOKEN } from '../../support/cli-service.ts';
import { agent, completion, NOW, work } from '../../support/storage-builders.ts';

const CONFIG = `hooks: {enabled: true, token: ${TOKEN}}
server: {port: 0}
gateway: {heartbeat: {everySeconds: 0}}
`;

const DECISION = {
  path: 'a',
  status: 404,
  outcome: 'rejected',
  actionIds: [],
  tookMs: 1,
  bodyBytes: 2,
  generation: 'g',
} as const;

test('a request can be explained at once after its answer, also one of a stranger', async () => {
  const bench = openBench({
    'sluice.yaml': CONFIG,
    'mappings/a.yaml': '{id: a, match: {path: a}, messageTemplate: hi, deliver: false}\n',
  });
  const service = await serveBench(bench);
  for (const [token, path, said] of [
    [TOKEN, 'a', 'answered 202'],
    [TOKEN, 'nobody', 'answered 404'],
    ['wrong-token-0123456789', 'a', 'answered 401'],
  ] as const) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${service.url}/hooks/${path}`, { method: 'POST', headers, body: '{}' });
    const { out, err } = await bench.run(['explain', response.headers.get('x-request-id') ?? '']);
    expect(out + err).toContain(said);
  }
});

test('a request whose decision is about to be written is not explained without it', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG });
  const storage = await openStorage(`sqlite:${bench.folder}/.sluice/sluice.db`);
  const requestId = '5f0c1e9a-7b2d-4c3e-9f4a-0d1b2c3d4e5f';
  const receivedAt = Date.now();
  const rest = { seed: 1, nonce: '0'.repeat(16), url: '/hooks/a', headers: {}, query: {}, payload: {} };
  const json = JSON.stringify({ id: requestId, path: 'a', receivedAt, ...rest });
  storage.keepRequest({ requestId, receivedAt, kind: 'whole', path: 'a', json });
  await expect.poll(() => storage.findKeptRequest(requestId)).toBeDefined();
  const explaining = bench.run(['explain', requestId, '--json']);
  await new Promise((resolve) => void setTimeout(resolve, 800));
  storage.recordDecision({ ...DECISION, requestId, receivedAt });
  const { out, err } = await explaining;
  expect(err).toBe('');
  await storage.close();
  expect(JSON.parse(out)).toMatchObject({ decision: { status: 404 } });
});

test('no stored text begins a line of its own in a listing', async () => {
  const bench = openBench({ 'sluice.yaml': CONFIG });
  const forged = ['a', '\n', '\r\n', '\u2028', '\u0085', '\u000b', '\u001b[2K\r'].join('FORGED');
  const performer = await openStorage(`sqlite:${bench.folder}/.sluice/sluice.db`);
  const run = agent({ name: forged, message: forged, sessionKey: 'key', oneShot: false });
  await performer.accept(work([run]));
  const conversation = { owner: run.owner, key: run.sessionKey };
  await performer.claimRuns({ nowMs: NOW, limit: 5 });
  await performer.completeRun({
    ...completion(run.id),
    outcome: 'error',
    reply: forged,
    error: { code: 'exit_1', message: forged },
    history: { conversation, turns: [{ role: 'user', text: forged, at: NOW }], maxTurns: 5 },
  });
  const mailbox = `box${forged}`;
  const hold = { mailbox, holder: 'reader', nowMs: NOW, leaseMs: 1000 };
  const health = { state: 'held', since: NOW, reason: forged };
  await performer.claimMailbox(hold);
  await performer.reportMailbox({ ...hold, state: JSON.stringify({ health, figures: {} }) });
  const mail = { from: forged, subject: forged, reason: forged, code: forged, sizeBytes: 1, attempts: 1 };
  await performer.passMail({
    ...hold,
    floorAt: 0,
    passed: [],
    state: '{}',
    setAside: {
      ...mail,
      id: 'mail-1',
      mailbox,
      identity: '1',
      state: 'set-aside',
      status: 400,
      receivedAt: NOW,
      setAsideAt: NOW,
    },
  });
  await performer.close();
  for (const command of [
    ['sessions', 'list', 'key'],
    ['sessions'],
    ['runs'],
    ['queue'],
    ['queue', 'retry', '--all', '--dry-run'],
    ['events'],
    ['requests'],
    ['explain', run.id],
    ['queue', 'list', run.id],
    ['webhooks', 'mail', 'list'],
    ['webhooks', 'mail', 'status'],
  ]) {
    const { out, err } = await bench.run(command);
    if (command[0] === 'webhooks') expect(out).toContain('FORGED');
    const lines = `${out}\n${err}`.split(/[\n\r\u2028\u0085]/);
    expect([command.join(' '), lines.filter((line) => line.startsWith('FORGED'))]).toEqual([
      command.join(' '),
      [],
    ]);
  }
});
