/**
 * The rows of `test/support/openclaw-rows.ts` against the whole service: where a row says nothing else, what the real
 * package answered is what Sluice answers.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startService, type Service } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { ROWS, shortAnswer, type Row, type Step } from '../../support/openclaw-rows.ts';
import { serviceAdvice } from '../../../src/frontends/cli/lazy-advice.ts';

interface Recorded {
  readonly version: string;
  readonly rows: Readonly<Record<string, { readonly answers: readonly string[] }>>;
}

const RECORDED = JSON.parse(
  readFileSync(new URL('../../fixtures/openclaw/answers.json', import.meta.url), 'utf8'),
) as Recorded;
const TOKEN = 'a-hook-token-of-its-own';
/** Longer than wakes that are asked for together wait for each other. */
const HEARD_MS = 3_000;

/** What `openclaw agent` prints of a turn that went well, as 2026.9.6 does. */
const REPORT = { status: 'ok', result: { payloads: [{ text: 'pong' }] } };

let folder: string;
let theirs: Server;
let woken: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-openclaw-rows-'));
  woken = [];
  theirs = createServer((req, res) => {
    let text = '';
    req.on('data', (chunk: Buffer) => (text += chunk.toString()));
    req.on('end', () => {
      woken.push(text);
      res.setHeader('content-type', 'application/json').end('{"ok":true,"mode":"now"}');
    });
  });
  await new Promise<void>((done) => theirs.listen(0, '127.0.0.1', done));
});
afterEach(() => {
  theirs.closeAllConnections();
  theirs.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

function put(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** Their file, with their gateway, and beside it what only the service needs. */
function configure({ hooks, agents = {} }: Row['config']): void {
  const config = {
    gateway: { port: (theirs.address() as AddressInfo).port, auth: { token: 'a-gateway-secret-of-its-own' } },
    agents,
    hooks: { enabled: true, token: TOKEN, ...hooks },
  };
  put({
    'openclaw.json': JSON.stringify(config),
    'sluice.yaml':
      'extends: openclaw.json\nstorage: {url: "sqlite:./store.db"}\nmetrics: {port: 0}\nserver: {port: 0, stopGraceSeconds: 0.1}\n',
    'bin/openclaw': `#!/bin/sh\necho '${JSON.stringify(REPORT)}'\n`,
  });
  chmodSync(join(folder, 'bin/openclaw'), 0o755);
}

async function answersOf(row: Row): Promise<readonly string[]> {
  configure(row.config);
  put(row.files ?? {});
  const service = await startService({
    ...serviceAdvice,
    configFile: join(folder, 'sluice.yaml'),
    env: { PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}` },
    log: createLogger({ destination: { write: () => true } }),
  }).catch(() => undefined);
  if (service === undefined) return ['refused'];
  try {
    const seen: string[] = [];
    const answers: string[] = [];
    for (const step of row.steps) answers.push(...(await take(service, step, seen)));
    return answers;
  } finally {
    await service.stop();
  }
}

async function take(service: Service, step: Step, seen: string[]): Promise<readonly string[]> {
  if ('heard' in step) return [(await isHeard(step.heard)) ? 'heard' : 'not heard'];
  if ('write' in step) {
    put(step.write);
    configure(step.config);
    await service.reload();
    return [];
  }
  let short = '';
  for (let sent = 0; sent < (step.times ?? 1); sent += 1) {
    const answer = await post(service, step);
    const text = await answer.text();
    short = shortAnswer(
      { status: answer.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) },
      seen,
    );
  }
  return [short];
}

async function post(service: Service, step: Extract<Step, { readonly post: string }>): Promise<Response> {
  for (;;) {
    const answer = await fetch(`${service.url}/hooks/${step.post}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...step.headers },
      body: JSON.stringify(step.body),
    });
    // A transform that is not linked yet, on a busy machine.
    if (answer.status !== 503) return answer;
    await answer.body?.cancel();
    await new Promise((done) => setTimeout(done, 200));
  }
}

async function isHeard(words: string): Promise<boolean> {
  for (const end = Date.now() + HEARD_MS; Date.now() < end;) {
    if (woken.some((text) => text.includes(words))) return true;
    await new Promise((done) => setTimeout(done, 50));
  }
  return false;
}

describe(`as OpenClaw ${RECORDED.version} answers`, () => {
  test.each(ROWS)('$name', async (row) => {
    const expected = row.differs?.answers ?? RECORDED.rows[row.name]?.answers;
    expect(await answersOf(row)).toEqual(expected);
  });

  test('a row that says it differs does', () => {
    for (const { name, differs } of ROWS) {
      if (differs !== undefined) expect(differs.answers).not.toEqual(RECORDED.rows[name]?.answers);
    }
  });
});
