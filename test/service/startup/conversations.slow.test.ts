import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Service, startService } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';

const TOKEN = 'conversations-token-0123456789';

/** Says its session id and what was said before it. */
const RECALL = ['sh', '-c', 'printf "%s\\n" "$SLUICE_SESSION_ID"; cat "$SLUICE_HISTORY_FILE"'];

/** A whole service with two mappings that write the same session keys; one of them is called agent. */
async function start(sessionKeys: object = {}): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-conversations-'));
  const configFile = join(folder, 'sluice.json');
  const mapping = (id: string, path: string) => ({
    id,
    match: { path },
    messageTemplate: '{{text}}',
    sessionKey: 'gh:{{repo}}',
    deliver: false,
  });
  const mappings = [mapping('gh', 'github'), mapping('agent', 'other')];
  const hooks = { enabled: true, token: TOKEN, mappings, sessionKeys };
  const gateway = { runner: { kind: 'command', argv: RECALL }, heartbeat: { everySeconds: 0 } };
  writeFileSync(configFile, JSON.stringify({ hooks, server: { port: 0 }, gateway }));
  const log = createLogger({ destination: { write: () => true } });
  const service = await startService({ configFile, env: process.env, log });
  onTestFinished(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return service;
}

/** The agent's reply: its session id, and what it could read of earlier turns. */
async function ask(service: Service, path: string, body: object) {
  const answer = await fetch(`${service.url}/hooks/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', prefer: 'wait=20' },
    body: JSON.stringify(body),
  });
  const { reply = '' } = (await answer.json()) as { readonly reply?: string };
  const [sessionId = '', ...history] = reply.split('\n');
  return { sessionId, history: history.join('\n') };
}

test('a body of /agent that names the key of a mapping reads nothing of its conversation', async () => {
  const service = await start();
  const first = await ask(service, 'github', { repo: 'r1', text: 'the secret of the mapping' });
  const again = await ask(service, 'github', { repo: 'r1', text: 'once more' });
  expect(again.history).toContain('the secret of the mapping');
  expect(again.sessionId).toBe(first.sessionId);

  const stolen = await ask(service, 'agent', {
    message: 'what was said?',
    sessionKey: 'gh:r1',
    deliver: false,
  });
  const others = await ask(service, 'other', { repo: 'r1', text: 'a mapping that is called agent' });
  for (const one of [stolen, others]) {
    expect(one.history).not.toContain('secret');
    expect(one.sessionId).not.toBe(first.sessionId);
  }
  expect(others.sessionId).not.toBe(stolen.sessionId);
  expect(others.history).not.toContain('what was said?');
});

test('a key under a shared prefix is one conversation for all who write it', async () => {
  const service = await start({ shared: ['gh:'] });
  await ask(service, 'github', { repo: 'r1', text: 'said by the mapping' });
  const joined = await ask(service, 'agent', { message: 'and this?', sessionKey: 'gh:r1', deliver: false });
  const last = await ask(service, 'other', { repo: 'r1', text: 'last' });
  expect(joined.history).toContain('said by the mapping');
  expect(last.history).toContain('and this?');
  expect(last.sessionId).toBe(joined.sessionId);
});
