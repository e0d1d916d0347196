import { createHmac } from 'node:crypto';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { toHookError } from '../../../src/service/server/server.ts';
import { openStorage, type Storage } from '../../../src/engine/storage/storage.ts';
import { TOKEN } from '../../support/cli-service.ts';
import { cli } from '../../support/cli-terminal.ts';
import { makeConsoleFolder, startConsoleService } from '../../support/console-fixture.ts';
import { sharedPostgres } from '../../support/postgres-server.ts';
import { until } from '../../support/service-process.ts';
import {
  agent,
  completion,
  conversation,
  dropEnding,
  failure,
  NOW,
  summary,
  work,
} from '../../support/storage-builders.ts';
import { turnRun } from '../../support/storage-harness.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { longerHere } from '../../support/longer-here.ts';

/** What everybody is told while the database is away. */

const server = await sharedPostgres();
const proxy = await startTcpProxy(server.port);
afterAll(async () => {
  await proxy.stop();
});

const through = async (): Promise<string> =>
  (await server.freshUrl()).replace(`:${server.port}/`, `:${proxy.port}/`);

const HELD_MAILBOX = { mailbox: 'm', holder: 'h', nowMs: NOW };
const QUERY = { limit: 5 };
const ONE = { kind: 'ids', ids: ['a'] } as const;
const IDEMPOTENCY = { scope: 's', key: 'k', bodySha256: '', ttlSeconds: 60 };
const DEAD = { error: { code: 'x', message: '' }, summary: summary(), nowMs: NOW };
const HOLD = { runner: 'r', since: NOW, code: 'c', message: '', retryAt: NOW, tries: 1 };
const CLAIM = { turnId: 't', nowMs: NOW, maxEvents: 5, maxBytes: 500 };

/** Every operation of the port that asks the database, each with arguments that it would take. */
const ASKED: Readonly<Record<string, (storage: Storage) => Promise<unknown>>> = {
  accept: (s) => s.accept(work([agent()])),
  acceptWithKey: (s) => s.accept(work([agent()], { idempotency: IDEMPOTENCY })),
  findDeduped: (s) => s.findDeduped('s', 'k', NOW),
  findIdempotent: (s) => s.findIdempotent('s', 'k', NOW),
  claimRuns: (s) => s.claimRuns({ nowMs: NOW, limit: 1 }),
  decideApproval: (s) => s.decideApproval('a', { decision: 'denied', by: 'link', nowMs: NOW }),
  recordProcess: (s) => s.recordProcess('a', { pgid: 1, startTicks: '1' }),
  completeRun: (s) => s.completeRun(completion('a')),
  requeueRun: (s) => s.requeueRun('a', failure(NOW)),
  deadLetterRun: (s) => s.deadLetterRun('a', DEAD),
  takeOver: (s) => s.takeOver(),
  renewRun: (s) => s.renewRun('a', { attempt: 'b', until: NOW, nowMs: NOW }),
  takeLapsedRuns: (s) => s.takeLapsedRuns(NOW),
  endCarriedRuns: (s) => s.endCarriedRuns(['a'], 'cancelled'),
  noteWorker: (s) => s.noteWorker({ runner: 'r', name: 'w', seenAt: NOW }),
  listWorkers: (s) => s.listWorkers('r'),
  countWaitingFor: (s) => s.countWaitingFor('r', 'r'),
  hasLapsedRuns: (s) => s.hasLapsedRuns(NOW),
  findAsked: (s) => s.findAsked({ expiresAt: NOW, nonce: 'a' }),
  findUnbegun: (s) => s.findUnbegun(NOW),
  findUndecided: (s) => s.findUndecided(NOW),
  decideStart: (s) => s.decideStart(['a'], { kind: 'allowed' }, NOW),
  findCutOff: (s) => s.findCutOff(['a']),
  endUnbegun: (s) => s.endUnbegun('a', DEAD),
  findAgentAccess: (s) => s.findAgentAccess('a'),
  isAgentToken: (s) => s.isAgentToken('a'),
  addAgentKey: (s) => s.addAgentKey('a', 'k', NOW),
  addConversationKey: (s) =>
    s.addConversationKey({
      owner: 'owner:o',
      conversation: 'c',
      key: 'k',
      addedBy: 'operator',
      runId: '',
      nowMs: NOW,
      until: NOW,
    }),
  findEndedRuns: (s) => s.findEndedRuns(['a']),
  saveHold: (s) => s.saveHold(HOLD),
  removeHold: (s) => s.removeHold('r'),
  listHolds: (s) => s.listHolds('r'),
  pauseRuns: (s) => s.pauseRuns('m', NOW),
  resumeRuns: (s) => s.resumeRuns('m'),
  listPauses: (s) => s.listPauses(),
  listLimited: (s) => s.listLimited({ nowMs: NOW }),
  markLimited: (s) => s.markLimited({ mappingId: 'm', reason: 'paused', waiting: 1 }, NOW),
  listMarked: (s) => s.listMarked(NOW),
  unmarkLimited: (s) => s.unmarkLimited(NOW),
  claimOutbox: (s) => s.claimOutbox({ nowMs: NOW, limit: 1 }),
  recordProgress: (s) => s.recordProgress('a', { chunksSent: 1, target: { channel: 'slack', to: 'C1' } }),
  addressOutbox: (s) => s.addressOutbox('a', 'slack C1'),
  putBackOutbox: (s) => s.putBackOutbox('a', NOW),
  completeOutbox: (s) => s.completeOutbox('a', { state: 'completed', nowMs: NOW }),
  requeueOutbox: (s) => s.requeueOutbox('a', failure(NOW)),
  deadLetterOutbox: (s) => s.deadLetterOutbox('a', DEAD),
  claimEvents: (s) => s.claimEvents(CLAIM),
  consumeEvents: (s) => s.consumeEvents('t', { run: turnRun('t'), nowMs: NOW }),
  freeEvents: (s) => s.freeEvents('t', failure(NOW)),
  nextDueAt: (s) => s.nextDueAt(),
  nextRetryAt: (s) => s.nextRetryAt(NOW),
  heartbeatRequested: (s) => s.heartbeatRequested(NOW),
  findConversation: (s) => s.findConversation(conversation('k')),
  listSessions: (s) => s.listSessions(QUERY),
  clearSession: (s) => s.clearSession(conversation('k')),
  findLastTarget: (s) => s.findLastTarget(),
  saveLastTarget: (s) => s.saveLastTarget({ channel: 'slack', to: 'C1' }, NOW),
  listRuns: (s) => s.listRuns(QUERY),
  findRun: (s) => s.findRun('a'),
  listEvents: (s) => s.listEvents(QUERY),
  listOutbox: (s) => s.listOutbox(QUERY),
  oldestAmong: (s) => s.oldestAmong('runs', { among: 1 }),
  retry: (s) => s.retry(ONE, NOW),
  drop: (s) => s.drop(ONE, NOW, dropEnding),
  backlog: (s) => s.backlog(),
  prune: (s) => s.prune({ maxAgeMs: 1, maxRows: 1 }, NOW),
  listDecisions: (s) => s.listDecisions(QUERY),
  findDecision: (s) => s.findDecision('a'),
  noteReplay: (s) => s.noteReplay('r-1', 'r-2'),
  planWork: (s) => s.planWork('retry', { selection: { kind: 'all' }, nowMs: NOW }),
  findKeptRequest: (s) => s.findKeptRequest('a'),
  listKeptRequests: (s) => s.listKeptRequests(1),
  mappingActivity: (s) => s.mappingActivity(NOW),
  failedByHour: (s) => s.failedByHour(10),
  countDecided: (s) => s.countDecided(0),
  findUnsent: (s) => s.findUnsent(['a']),
  listCosts: (s) => s.listCosts(QUERY),
  recordAudit: (s) =>
    s.recordAudit({ at: NOW, who: 'w', source: 's', what: 'pause', about: 'm', changed: 1 }),
  listAudit: (s) => s.listAudit(5),
  readKept: (s) => s.readKept({ from: 0, to: NOW, maxBytes: 1 }),
  forgetRequests: (s) => s.forgetRequests(NOW),
  keepGeneration: (s) => s.keepGeneration({ id: 'g', files: [] }, NOW),
  findGeneration: (s) => s.findGeneration('g'),
  verify: (s) => s.verify(),
  claimMailbox: (s) => s.claimMailbox({ ...HELD_MAILBOX, leaseMs: 1000 }),
  reportMailbox: (s) => s.reportMailbox({ ...HELD_MAILBOX, leaseMs: 1000, state: '{}' }),
  leadRecovery: (s) => s.leadRecovery('p'),
  keepRecovery: (s) => s.keepRecovery('p', '{}'),
  wantRecovery: (s) => s.wantRecovery('p', '{}'),
  listRecoveries: (s) => s.listRecoveries(),
  releaseMailbox: (s) => s.releaseMailbox({ ...HELD_MAILBOX, state: '{}' }),
  passMail: (s) => s.passMail({ ...HELD_MAILBOX, state: '{}', floorAt: NOW, passed: [] }),
  isMailPassed: (s) => s.isMailPassed('m', 'i'),
  listMailboxes: (s) => s.listMailboxes(),
  listSetAsideMail: (s) => s.listSetAsideMail(QUERY),
  retrySetAsideMail: (s) => s.retrySetAsideMail(ONE),
  dropSetAsideMail: (s) => s.dropSetAsideMail(ONE),
};

/** What asks no database, or has answered before it is asked. */
const ASKS_NOTHING = [
  'backup',
  'flush',
  'close',
  'health',
  'lease',
  'recordDecision',
  'recordStranger',
  'keepRequest',
  'databaseUse',
];
/** Of the engine, behind operations of the port. */
const BEHIND =
  /^accept[RS]|Rows$|Slice$|^select|^hurryHolds|^write|^record(?:Decisions|Strangers)$|^(?:keepRequests|freeKeptSpace)$|^find(?:Reservation|HeartbeatAt)|^on[A-Z]/;

test('every operation says in time that the database is away, and a request then gets 503 with Retry-After', async () => {
  const storage = await openStorage(await through());
  onTestFinished(() => storage.close());
  const isTold = (name: string) => !(name in ASKED) && !ASKS_NOTHING.includes(name) && !BEHIND.test(name);
  expect(Object.keys(storage).filter(isTold)).toEqual([]);
  proxy.refuse();
  onTestFinished(() => proxy.heal());
  const began = performance.now();
  for (const [name, ask] of Object.entries(ASKED)) {
    const failed = await ask(storage).then(
      () => undefined,
      (error: unknown) => error,
    );
    const { code, status, retryAfterSeconds } = toHookError(failed);
    expect([name, code, status, retryAfterSeconds]).toEqual([name, 'storage_unavailable', 503, 2]);
  }
  expect(performance.now() - began).toBeLessThan(longerHere(20_000));
});

const SECRET = Buffer.alloc(24, 7).toString('base64');
const FILES = {
  'signed-secret': `whsec_${SECRET}`,
  'mappings/more.yaml': `
- { id: signed, match: { path: signed }, verify: { scheme: standard-webhooks, secrets: [{ file: signed-secret }] }, messageTemplate: x, deliver: false }
- { id: note, match: { path: note }, action: wake, textTemplate: x, dedupe: { key: '{{id}}' } }
`,
};

/** Every way by which a sender or a reader of mail comes to the store, and what the operator looks at. */
test('a service whose database is away sends everybody away for a while, and takes all when it is back', async () => {
  const url = await through();
  const folder = makeConsoleFolder({
    ...FILES,
    'sluice.yaml': `hooks: {enabled: true, token: "\${SLUICE_HOOK_TOKEN}", exposeRuns: true}
gateway: {runner: echo, heartbeat: {everySeconds: 0}, runners: {slow: {kind: echo}}}
console: {enabled: true, port: 0}
storage: {url: "${url}"}
`,
  });
  onTestFinished(() => folder.remove());
  const running = await startConsoleService(folder.path);
  onTestFinished(() => running.stop());
  const post = (path: string, body: string, headers: Readonly<Record<string, string>>) => () =>
    fetch(`${running.service.url}/hooks/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
  const bearer = { authorization: `Bearer ${TOKEN}` };
  const keyed = { ...bearer, 'idempotency-key': 'k1' };
  const signed = () => {
    const at = String(Math.floor(Date.now() / 1000));
    const mac = createHmac('sha256', Buffer.from(SECRET, 'base64')).update(`msg_1.${at}.{}`).digest('base64');
    const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': at, 'webhook-signature': `v1,${mac}` };
    return post('signed', '{}', headers)();
  };
  const ways: Readonly<Record<string, () => Promise<Response>>> = {
    plain: post('agent', '{"message":"a"}', bearer),
    'with a key': post('agent', '{"message":"b"}', keyed),
    'a wake with a key': post('wake', '{"text":"c"}', keyed),
    'a wake deduped by its mapping': post('note', '{"id":1}', bearer),
    'with a signed id': signed,
  };
  const asked: Readonly<Record<string, () => Promise<Response>>> = {
    'a run': () => fetch(`${running.service.url}/hooks/runs/none`, { headers: bearer }),
    'the console': () => askConsole(running, '/api/inbox'),
  };
  await until('the session', async () => (await askConsole(running, '/api/inbox')).ok);
  proxy.refuse();
  for (const [name, ask] of Object.entries({ ...ways, ...asked })) {
    const answer = await ask();
    const retryAfter = Number(answer.headers.get('retry-after'));
    expect([name, answer.status, retryAfter >= 1]).toEqual([name, 503, true]);
    expect(await answer.text()).not.toMatch(/at .*\.ts:/);
  }
  const options = { cwd: folder.path, env: { SLUICE_HOOK_TOKEN: TOKEN } };
  for (const command of COMMANDS) {
    const { exitCode, err } = await cli(command.split(' '), options);
    expect([command, exitCode, err]).toEqual([command, 3, expect.stringContaining('cannot be reached')]);
    expect(err).not.toMatch(/\n\s+at .*\.ts:/);
  }
  proxy.heal();
  for (const [name, ask] of Object.entries(ways)) {
    const answer = await until(name, async () => {
      const again = await ask();
      return again.ok ? again : undefined;
    });
    const said = (await answer.json()) as { readonly ok?: boolean; readonly duplicate?: boolean };
    expect([name, said.ok, said.duplicate ?? false]).toEqual([name, true, false]);
  }
});

const COMMANDS = [
  'queue list',
  'queue retry a',
  'queue drop a',
  'queue pause',
  'requests',
  'runs',
  'events',
  'sessions list',
  'storage verify',
  'webhooks mail list',
];

/** What the page asks, signed in as it is. */
async function askConsole(
  console: { readonly url: string; readonly link: string },
  path: string,
): Promise<Response> {
  session ??= await signIn(console);
  return fetch(`${console.url}${path}`, { headers: { 'x-sluice-session': session } });
}

let session: string | undefined;

async function signIn({ url, link }: { readonly url: string; readonly link: string }): Promise<string> {
  const key = link.slice(link.indexOf('#key=') + '#key='.length);
  const answer = await fetch(`${url}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ key }),
  });
  const { token = '' } = (await answer.json()) as { readonly token?: string };
  return token;
}
