/** A path whose proof covers less than it uses: the service refuses, unless an operator accepts it. */
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { openBench, serveBench, TOKEN } from '../../support/cli-service.ts';

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

test('an error refuses in check and in serve, and names the line that accepts it', async () => {
  const bench = open();
  const checked = await bench.run(['check']);
  expect(checked.exitCode).toBe(1);
  expect(checked.err.concat(checked.out).match(/PROOF_NOT_COVERING/g)).toHaveLength(2);
  expect(checked.err.concat(checked.out)).toContain("acceptUncovered: 'REASON'");
  expect((await bench.run(['serve'])).exitCode).toBe(1);
});

test('what an operator accepts with a reason is a warning, and the service runs', async () => {
  const bench = open(
    MAPPINGS.replaceAll('scheme: hmac', "scheme: hmac, acceptUncovered: 'only in our network'"),
  );
  const checked = await bench.run(['check']);
  expect(checked.exitCode).toBe(0);
  expect(checked.err.concat(checked.out).match(/warning PROOF_NOT_COVERING/g)).toHaveLength(2);
  const service = await serveBench(bench, []);
  expect(await (await fetch(`${service.url}/readyz`)).json()).toMatchObject({ degraded: [] });
  const [before, after] = ['a', 'b'].map((host) =>
    fetch(`${service.url}/hooks/ping?host=${host}`, { headers: { 'x-sig': sign('') } }),
  );
  // One signature, two queries: this is what is accepted.
  expect([(await before!).status, (await after!).status]).toEqual([202, 202]);
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
