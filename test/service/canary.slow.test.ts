/**
 * Canaries in every place where a sender or an operator puts something: none may sing in a log, a metric, an error
 * answer or the list of processes. What a run gets (prompt, callback, the trace) is what it is for.
 */
import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../../src/service.ts';
import { createLogger } from '../../src/telemetry/telemetry.ts';

const CANARIES = {
  token: 'canary-hook-token-0123456789-0123456789',
  gateway: 'canary-gateway-token-0123456789-0123456789',
  secret: 'canary-signing-secret-0123456789',
  retired: 'canary-retired-secret-0123456789',
  shared: 'canary-secret-in-a-header-0123456789',
  wrong: 'canary-wrong-token-0123456789',
  header: 'canary-header-value',
  query: 'canary-query-value',
  body: 'canary-body-text',
  key: 'canary-idempotency-key',
} as const;
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

const MAPPINGS = `
- id: signed
  match: {path: signed}
  verify: {scheme: github, secrets: ["\${SECRET}", "\${RETIRED}"]}
  messageTemplate: "{{text}} {{headers.x-note}} {{query.note}}"
  deliver: false
  callbackUrl: "\${CALLBACK}"
- id: shared
  match: {path: shared}
  verify: {scheme: header, header: X-Shared, secrets: ["\${SHARED}"]}
  messageTemplate: "{{text}} {{json headers}}"
  deliver: false
- id: broken
  match: {path: broken}
  messageTemplate: "{{#each text}}{{broken}}{{/each}}"
  transform: broken.js
`;

/** What the agent is started with: it sleeps, so that the list of processes can be read meanwhile. */
const AGENT = ['sh', '-c', 'cat > /dev/null; sleep 1; echo "trace=$TRACEPARENT"'];

function commandLines(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => {
      try {
        return readFileSync(join('/proc', name, 'cmdline'), 'utf8');
      } catch {
        return '';
      }
    })
    .join('\n');
}

test('no canary sings where only operators and strangers look', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-canary-'));
  for (const name of ['mappings', 'transforms']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'mappings', 'all.yaml'), MAPPINGS);
  writeFileSync(
    join(folder, 'transforms', 'broken.js'),
    'export default ({ payload }) => { throw new Error(`no: ${payload.text}`); };',
  );
  const callbacks: { readonly trace: unknown; readonly body: string }[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      callbacks.push({ trace: request.headers['traceparent'], body });
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const config = {
    hooks: {
      enabled: true,
      token: '${TOKEN}',
      mappingsDir: 'mappings',
      transformsDir: 'transforms',
      authFailuresPerMinute: 0,
      maxBodyBytes: 2000,
    },
    server: { port: 0 },
    metrics: { port: 0 },
    storage: { url: `sqlite:${join(folder, 'sluice.db')}` },
    gateway: { token: '${GATEWAY}', runner: { kind: 'command', argv: AGENT } },
    log: { level: 'debug' },
  };
  const configFile = join(folder, 'sluice.json');
  writeFileSync(configFile, JSON.stringify(config));
  let logged = '';
  const env = {
    PATH: process.env['PATH'],
    TOKEN: CANARIES.token,
    GATEWAY: CANARIES.gateway,
    SECRET: CANARIES.secret,
    RETIRED: CANARIES.retired,
    SHARED: CANARIES.shared,
    CALLBACK: `http://127.0.0.1:${String((receiver.address() as AddressInfo).port)}/done`,
  };
  const log = createLogger({ destination: { write: (line: string) => void (logged += line) } });
  const service = await startService({ configFile, env, log });
  onTestFinished(async () => {
    await service.stop();
    receiver.close();
    receiver.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });

  const body = JSON.stringify({ text: CANARIES.body });
  const sign = (secret: string, signed = body): Record<string, string> => ({
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(signed).digest('hex')}`,
  });
  const errors: string[] = [];
  const post = async (path: string, headers: Record<string, string>, sent = body): Promise<number> => {
    const answer = await fetch(`${service.url}/hooks/${path}?note=${CANARIES.query}`, {
      method: 'POST',
      headers: { 'x-note': CANARIES.header, 'idempotency-key': CANARIES.key, traceparent: TRACE, ...headers },
      body: sent,
    });
    const text = await answer.text();
    if (answer.status >= 400) errors.push(text + JSON.stringify([...answer.headers]));
    return answer.status;
  };

  const bearer = { authorization: `Bearer ${CANARIES.token}` };
  expect(await post('signed', sign(CANARIES.secret))).toBe(202);
  const processes = commandLines();
  const statuses = [
    await post('signed', { ...sign(CANARIES.retired), 'idempotency-key': `${CANARIES.key}-2` }),
    await post('shared', { 'X-Shared': CANARIES.shared }),
    await post('signed', sign(CANARIES.wrong)),
    await post('signed', sign(CANARIES.secret, `${body}\n`)),
    await post('shared', { 'X-Shared': CANARIES.wrong }),
    await post('wake', { authorization: `Bearer ${CANARIES.wrong}` }),
    await post(`wake?token=${CANARIES.wrong}`, {}),
    await post('broken', bearer),
    await post('wake', bearer, `{"text": ${CANARIES.body}`),
    await post('wake', bearer, JSON.stringify({ text: CANARIES.body.repeat(200) })),
    await post(`none/${CANARIES.token}`, bearer),
  ];
  expect(statuses).toEqual([202, 202, 401, 401, 401, 401, 401, 500, 400, 413, 404]);
  await expect.poll(() => callbacks.length, { timeout: 30_000 }).toBe(2);

  const metricsUrl = /"metricsUrl":"([^"]+)"/.exec(logged)?.[1] ?? '';
  const metrics = await (await fetch(metricsUrl)).text();
  expect(metrics).toContain('sluice_verify_failures_total{scheme="github",reason="wrong-proof"} 2');
  expect(metrics).toContain('sluice_auth_failures_total{reason="wrong"}');
  expect(logged).toContain('"diagnosis":"re-encoded-body"');

  const signature = sign(CANARIES.secret)['x-hub-signature-256']?.slice(7) ?? '';
  for (const canary of [...Object.values(CANARIES), signature]) {
    expect(logged, 'log').not.toContain(canary);
    expect(errors.join('\n'), 'error answers').not.toContain(canary);
    expect(metrics, 'metrics').not.toContain(canary);
    expect(processes, 'processes').not.toContain(canary);
  }
  // The trace goes where it belongs: into the run and its callback.
  expect(callbacks.map(({ trace }) => trace)).toEqual([TRACE, TRACE]);
  for (const callback of callbacks) expect(callback.body).toContain(`trace=${TRACE}`);
  expect(callbacks.map((callback) => callback.body).join('')).not.toContain(CANARIES.secret);
});
