/** A path whose proof covers less than it uses: the service runs as it did, and says so everywhere. */
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { openBench, serveBench, TOKEN } from '../support/cli-service.ts';

const MAPPINGS = `
- {id: ping, match: {path: ping}, method: GET, verify: {scheme: hmac, header: x-sig, secrets: [{file: secret}]}, messageTemplate: "{{host}}"}
- {id: event, match: {path: event}, bodyFormat: cloudevents, verify: {scheme: hmac, header: x-sig, secrets: [{file: secret}]}, messageTemplate: "{{type}} {{data.n}}"}
`;

const sign = (text: string): string => createHmac('sha256', 'signing-secret').update(text).digest('hex');

function open(mappings = MAPPINGS) {
  const files = {
    'sluice.yaml': `hooks: {enabled: true, token: ${TOKEN}}\nserver: {port: 0}\ngateway: {heartbeat: {everySeconds: 0}}\nstorage: {keepRequests: {which: all}}\n`,
    'mappings/all.yaml': mappings,
    secret: 'signing-secret',
  };
  return openBench(files);
}

test('check fails; the service starts, logs an error, and is degraded until it is mended', async () => {
  const bench = open();
  const checked = await bench.run(['check']);
  expect(checked.exitCode).toBe(1);
  expect(checked.err.concat(checked.out).match(/PROOF_NOT_COVERING/g)).toHaveLength(2);
  const log: string[] = [];
  const service = await serveBench(bench, log);
  const asked = await fetch(`${service.url}/readyz`);
  expect(asked.status).toBe(200);
  expect(await asked.json()).toMatchObject({ degraded: [{ code: 'proof_not_covering', count: 2 }] });
  expect(log.join('')).toContain('does not cover what is used of its requests');
  const [before, after] = ['a', 'b'].map((host) =>
    fetch(`${service.url}/hooks/ping?host=${host}`, { headers: { 'x-sig': sign('') } }),
  );
  // One signature, two queries: this is what is said.
  expect([(await before!).status, (await after!).status]).toEqual([202, 202]);
});

test('explain marks what the signature does not cover', async () => {
  const bench = open();
  const service = await serveBench(bench, []);
  const body = '{"n":1}';
  const response = await fetch(`${service.url}/hooks/event?x=1`, {
    method: 'POST',
    headers: {
      'x-sig': sign(body),
      'content-type': 'application/json',
      'ce-specversion': '1.0',
      'ce-id': '7',
      'ce-source': 'here',
      'ce-type': 'deleted',
    },
    body,
  });
  expect(response.status).toBe(202);
  const id = response.headers.get('x-request-id') ?? '';
  await expect
    .poll(async () => (await bench.run(['explain', id, '--all'])).out, { timeout: 5_000 })
    .toMatch(/type +"deleted".*unsigned/);
  const explained = await bench.run(['explain', id, '--all']);
  expect(explained.out).toContain('unsigned: not covered by the signature of the sender');
  expect(explained.out).toMatch(/data\.n +1  ← messageTemplate\n/);
});

test('a right set-up is silent', async () => {
  const bench = open(
    '- {id: ping, match: {path: ping}, method: GET, verify: {scheme: hmac, header: x-sig, signed: "{url}", secrets: [{file: secret}]}, messageTemplate: "{{host}}"}',
  );
  const log: string[] = [];
  const service = await serveBench(bench, log);
  const ready = await fetch(`${service.url}/readyz`);
  expect(await ready.json()).toMatchObject({ degraded: [] });
  expect(log.join('')).not.toContain('PROOF_NOT_COVERING');
  const signed = sign(`${service.url}/hooks/ping?host=a`);
  const get = (query: string) => fetch(`${service.url}/hooks/ping${query}`, { headers: { 'x-sig': signed } });
  expect((await get('?host=a')).status).toBe(202);
  expect((await get('?host=b')).status).toBe(401);
});
