/**
 * A service as somebody finds it who is called at night: two days of requests, runs and costs behind it, and hooks that go
 * on all the time. Its agent `claude` has a key that expired.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStorage, type DecisionRecord, type Storage } from '../../src/engine/storage/storage.ts';
import { makeConsoleFolder } from './console-fixture.ts';
import { freePort } from './free-port.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';
import { agentOf, completion, work } from './storage-builders.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const TOKEN = 'a-hook-token-0123456789';
const SECRET = 'a-secret-of-the-webhook-0123456789';
const OPERATOR = 'a-key-of-ana-that-is-long-enough-0000';
/** Hooks a second that go on all the time. */
const LOAD_A_SECOND = 30;
/** Requests of the two days before. */
const REQUESTS = 8_000;
/** Pull requests that no mapping took since a change of yesterday. */
export const MISSED = 640;
/** Runs that failed since the key expired. */
export const FAILED = 400;
const PATHS = ['shop', 'sentry', 'deploy', 'metrics', 'crm', 'chat', 'billing', 'status'];

const config = (port: number): string => `hooks: {enabled: true, token: "\${SLUICE_HOOK_TOKEN}"}
gateway:
  heartbeat: {everySeconds: 0}
  runners: {claude: {kind: command, argv: [sh, agent.sh], cwd: .}}
server: {stopGraceSeconds: 0.1}
console: {enabled: true, port: ${port}, keys: {ana: {role: operate, key: ${OPERATOR}}}}
`;

const LEAF = '{"in":[{"var":"payload.action"},["opened","reopened","ready_for_review"]]}';
const GITHUB = (actions: string): string => `id: review
match: { path: github, when: { in: [{ var: payload.action }, [${actions}]] } }
verify: { scheme: github, secrets: ['\${SECRET}'] }
recover: { token: '\${SECRET}', target: octocat/hello-world, api: 'http://127.0.0.1:1', everySeconds: 86400 }
dedupe: { key: '{{headers.x-github-delivery}}', ttlSeconds: 259200 }
runner: claude
messageTemplate: 'Review {{title}}'
deliver: false
`;

export interface Night {
  readonly folder: string;
  /** Signs in somebody who may operate. */
  readonly link: string;
  readonly service: ServiceProcess;
  send(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** Sends a pull request of GitHub, with its proof. */
  sendPull(action: string, delivery: string): Promise<number>;
  /** The key of the agent is a good one again. */
  renewKey(): void;
  /** The mapping takes what it did not take. */
  mendMapping(): void;
  stop(): Promise<void>;
}

/** Starts `sluice serve` with the past behind it. `main` is the program; default the one of this tree. */
export async function startNight(main?: string): Promise<Night> {
  const port = await freePort();
  const folder = makeConsoleFolder({
    'sluice.yaml': config(port),
    'agent.sh': 'test -f key && echo done || { echo "invalid api key: it has expired" >&2; exit 1; }\n',
    'mappings/order.yaml': '[]\n',
    'mappings/review.yaml': GITHUB('opened, reopened, ready_for_review'),
    ...Object.fromEntries(
      PATHS.map((path) => [
        `mappings/${path}.yaml`,
        `{ id: ${path}-event, match: { path: ${path} }, action: wake, wakeMode: next-heartbeat, textTemplate: '{{text}}' }\n`,
      ]),
    ),
  });
  const storage = await openStorage(`sqlite:${join(folder.path, '.sluice/sluice.db')}`, { fsync: false });
  await livePast(storage, Date.now());
  await storage.close();
  const options = main === undefined ? {} : { main };
  const service = await startServiceProcess(folder.path, { SLUICE_HOOK_TOKEN: TOKEN, SECRET }, options);
  const sent = async (
    path: string,
    body: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<number> => {
    const answer = await fetch(`http://127.0.0.1:${service.port}/hooks/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const send: Night['send'] = (path, body, headers = {}) =>
    sent(path, JSON.stringify(body), { authorization: `Bearer ${TOKEN}`, ...headers });
  const leaving = new AbortController();
  void keepSending(send, leaving.signal);
  return {
    folder: folder.path,
    link: `http://127.0.0.1:${port}/#key=${OPERATOR}`,
    service,
    send,
    sendPull: (action, delivery) => {
      const body = JSON.stringify({ action, title: 'Mend the door' });
      const proof = createHmac('sha256', SECRET).update(body).digest('hex');
      return sent('github', body, {
        'x-hub-signature-256': `sha256=${proof}`,
        'x-github-delivery': delivery,
      });
    },
    renewKey: () => writeFileSync(join(folder.path, 'key'), ''),
    mendMapping: () => {
      writeFileSync(join(folder.path, 'mappings/review.yaml'), GITHUB('opened, closed'));
      service.child.kill('SIGHUP');
    },
    stop: async () => {
      leaving.abort();
      await service.end('SIGTERM');
      rmSync(folder.path, { recursive: true, force: true });
    },
  };
}

async function keepSending(send: Night['send'], signal: AbortSignal): Promise<void> {
  for (let index = 0; !signal.aborted; index += 1) {
    void send(PATHS[index % PATHS.length] ?? '', { text: `event ${index}` }).catch(() => undefined);
    // oxlint-disable-next-line no-await-in-loop -- at its rate
    await new Promise((done) => setTimeout(done, 1000 / LOAD_A_SECOND));
  }
}

/** What the store has of two days. */
async function livePast(storage: Storage, now: number): Promise<void> {
  const decide = (receivedAt: number, parts: Partial<DecisionRecord>): void =>
    storage.recordDecision({
      requestId: randomUUID(),
      receivedAt,
      path: 'shop',
      status: 202,
      outcome: 'accepted',
      actionIds: [],
      generation: 'g',
      tookMs: 2,
      bodyBytes: 800,
      ...parts,
    });
  const missed: Partial<DecisionRecord> = {
    path: 'github',
    status: 404,
    outcome: 'rejected',
    code: 'no_mapping_matched',
    missed: [{ mappingId: 'review', part: 'when', leaf: LEAF, why: 'different' }],
  };
  const past = Array.from({ length: REQUESTS }, (_, index) => now - 48 * HOUR_MS * (1 - index / REQUESTS));
  const since = now - 14 * HOUR_MS;
  for (const [index, at] of past.entries()) {
    const path = PATHS[index % PATHS.length] ?? '';
    // Nothing came for three hours.
    if (at < now - 30 * HOUR_MS || at > now - 27 * HOUR_MS) decide(at, { path, mappingId: `${path}-event` });
    if (index % 1_000 === 0 && at < since) decide(at, missed);
  }
  for (let index = 0; index < MISSED; index += 1)
    decide(since + (index * (now - since - MINUTE_MS)) / MISSED, missed);
  await storage.flush();
  const runs = Array.from({ length: FAILED }, (_, index) => now - 5 * HOUR_MS * (1 - index / FAILED));
  const failure = { code: 'agent_failed', message: 'invalid api key: it has expired' };
  for (const at of runs) {
    const action = agentOf('review', {
      runner: 'claude',
      sessionKey: `pull:${Math.round(at)}`,
    });
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await storage.accept(work([action], { receivedAt: at }));
  }
  await endAll(storage, now, (at) => ({ outcome: 'error', error: failure, nowMs: at }));
  for (const [days, usd] of [1, 1, 1, 0].map((ago, index) => [ago, index < 3 ? 0.9 : 41] as const)) {
    const at = now - days * 24 * HOUR_MS;
    // oxlint-disable-next-line no-await-in-loop -- in their order
    await storage.accept(work([agentOf('triage', { runner: 'claude' })], { receivedAt: at }));
    // oxlint-disable-next-line no-await-in-loop -- as above
    await endAll(storage, at, () => ({
      outcome: 'ok',
      nowMs: at,
      runner: 'claude',
      usage: { inputTokens: 9_000, outputTokens: 900, costUsd: usd },
    }));
  }
}

async function endAll(
  storage: Storage,
  now: number,
  endOf: (at: number) => Partial<Parameters<Storage['completeRun']>[0]>,
): Promise<void> {
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- until none is left
    const claimed = await storage.claimRuns({ nowMs: now, limit: 50 });
    if (claimed.length === 0) return;
    for (const run of claimed) {
      // oxlint-disable-next-line no-await-in-loop -- in their order
      await storage.completeRun(completion(run.id, endOf(run.acceptedAt)));
    }
  }
}
