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
import { startService } from '../../../src/service/startup/startup.ts';
import { createLogger } from '../../../src/base/telemetry/telemetry.ts';
import { serviceAdvice } from '../../../src/frontends/cli/lazy-advice.ts';

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
  cookie: 'canary-cookie-value',
  mail: 'canary-mail-password-0123456789',
  bot: '12345:canary-bot-token-0123456789',
} as const;
/** What must not even lie in the store, where prompts, replies and kept requests are. */
const NEVER_STORED = [
  'token',
  'gateway',
  'secret',
  'retired',
  'shared',
  'wrong',
  'cookie',
  'mail',
  'bot',
] as const;
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
- id: failing
  match: {path: failing}
  runner: bad
  messageTemplate: "{{text}} {{json query}}"
  deliver: false
`;

/** What the agent is started with: it sleeps, so that the list of processes can be read meanwhile. */
const AGENT = ['sh', '-c', 'cat > /dev/null; sleep 1; echo "trace=$TRACEPARENT"; env'];

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

test('no canary sings where only operators and strangers look', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-canary-'));
  for (const name of ['mappings', 'transforms']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'mappings', 'all.yaml'), MAPPINGS);
  writeFileSync(
    join(folder, 'transforms', 'broken.js'),
    `export default ({ payload, headers, query }) => {
       console.log('cookie', headers.cookie, 'query', JSON.stringify(query));
       throw new Error('no: ' + payload.text + ' ' + headers.cookie);
     };`,
  );
  const callbacks: { readonly trace: unknown; readonly body: string }[] = [];
  const alerts: string[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const isAlert = request.url?.startsWith('/bot') === true;
      if (isAlert) alerts.push(body);
      else callbacks.push({ trace: request.headers['traceparent'], body });
      response.end('{"ok":true,"result":{"message_id":1}}');
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const config = {
    hooks: {
      mail: {
        version: 1,
        kind: 'imap',
        account: 'me@example.com',
        host: '127.0.0.1',
        port: 1,
        security: 'none',
        auth: { kind: 'password', password: '${MAIL}' },
      },
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
    channels: { telegram: { botToken: '${BOT}', baseUrl: `http://127.0.0.1:${String(port)}` } },
    gateway: {
      token: '${GATEWAY}',
      runner: 'good',
      runners: {
        good: { kind: 'command', argv: AGENT },
        // It writes all it is given to where the end is shown.
        bad: { kind: 'command', argv: ['sh', '-c', 'cat >&2; env >&2; exit 3'] },
      },
      alerts: { channel: 'telegram', to: '-100', after: 1 },
    },
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
    MAIL: CANARIES.mail,
    BOT: CANARIES.bot,
    CALLBACK: `http://127.0.0.1:${String(port)}/done`,
  };
  const log = createLogger({ destination: { write: (line: string) => void (logged += line) } });
  const service = await startService({ ...serviceAdvice, configFile, env, log, readMail: true });
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
    const answer = await fetch(
      `${service.url}/hooks/${path}${path.includes('?') ? '&' : '?'}note=${CANARIES.query}`,
      {
        method: 'POST',
        headers: {
          'x-note': CANARIES.header,

          'idempotency-key': CANARIES.key,
          traceparent: TRACE,
          ...headers,
        },
        body: sent,
      },
    );
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
    await post('broken', { ...bearer, cookie: CANARIES.cookie }),
    await post('wake', bearer, `{"text": ${CANARIES.body}`),
    await post('wake', bearer, JSON.stringify({ text: CANARIES.body.repeat(200) })),
    await post(`none/${CANARIES.token}`, bearer),
    await post(`none/${CANARIES.secret}`, bearer),
    await post(`failing?hint=${CANARIES.retired}`, { ...bearer, 'idempotency-key': 'k3' }),
  ];
  expect(statuses).toEqual([202, 202, 401, 401, 401, 401, 401, 500, 400, 413, 404, 404, 202]);
  await expect.poll(() => alerts.join('\n')).toContain('runner bad has failed');
  await expect.poll(() => logged).toContain('mailbox');
  await expect.poll(() => callbacks.length).toBe(2);

  const metricsUrl = /"metricsUrl":"([^"]+)"/.exec(logged)?.[1] ?? '';
  const metrics = await (await fetch(metricsUrl)).text();
  expect(metrics).toContain('sluice_verify_failures_total{scheme="github",reason="wrong-proof"} 2');
  expect(metrics).toContain('sluice_auth_failures_total{reason="wrong"}');
  expect(logged).toContain('"finding":"wrong-secret"');

  const asked = { headers: { authorization: `Bearer ${CANARIES.gateway}` } };
  const readiness = async (): Promise<string> => (await fetch(`${service.url}/readyz`, asked)).text();
  // The mailbox is noticed to be away a moment after the start.
  await expect.poll(readiness).toContain('mailbox_away');
  const ready = await readiness();

  const signature = sign(CANARIES.secret)['x-hub-signature-256']?.slice(7) ?? '';
  for (const canary of [...Object.values(CANARIES), signature]) {
    expect(logged, 'log').not.toContain(canary);
    expect(errors.join('\n'), 'error answers').not.toContain(canary);
    expect(metrics, 'metrics').not.toContain(canary);
    expect(processes, 'processes').not.toContain(canary);
    expect(ready, 'degraded list').not.toContain(canary);
    expect(alerts.join('\n'), 'alerts').not.toContain(canary);
  }
  const stored = readdirSync(folder)
    .filter((name) => name.startsWith('sluice.db'))
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('');
  // The transform that printed a cookie failed, so its request was kept.
  expect(stored).toContain('[removed]');
  for (const name of NEVER_STORED) {
    expect(stored, 'store').not.toContain(CANARIES[name]);
    expect(callbacks.map((callback) => callback.body).join(''), 'callback').not.toContain(CANARIES[name]);
  }
  // The trace goes where it belongs: into the run and its callback.
  expect(callbacks.map(({ trace }) => trace)).toEqual([TRACE, TRACE]);
  for (const callback of callbacks) expect(callback.body).toContain(`trace=${TRACE}`);
  expect(callbacks.map((callback) => callback.body).join('')).not.toContain(CANARIES.secret);
});
