/** `sluice send` of requests as they came: with a form that `curl -d` announces of any body, and with headers of a connection. */
import { expect, test } from 'vitest';
import { openBench, serveBench, TOKEN } from '../support/cli-service.ts';

const env = { SLUICE_HOOK_TOKEN: TOKEN };

test('what a path took from "curl -d" is sent to it again as it came, and a form stays a form', async () => {
  const bench = openBench({
    'sluice.yaml': `hooks:
  enabled: true
  token: \${SLUICE_HOOK_TOKEN}
  mappings:
    - {id: plain, match: {path: plain}, messageTemplate: "{{a.b}}{{c}}", deliver: false}
    - {id: form, match: {path: form}, bodyFormat: form, messageTemplate: "{{c}}", deliver: false}
server: {port: 0}
storage: {keepRequests: {which: all}}
`,
    'nested.request.yaml':
      'path: plain\nheaders: {content-type: application/x-www-form-urlencoded}\nbody: {a: {b: "1"}, c: two}\n',
    'flat.request.yaml':
      'path: plain\nheaders: {content-type: application/x-www-form-urlencoded}\nbody: {c: two}\n',
    'chunks.request.yaml':
      'path: plain\nheaders: {transfer-encoding: chunked, connection: upgrade, upgrade: h2c, keep-alive: timeout=5, expect: 100-continue, content-length: "9", x-kept: "1"}\nbody: {c: two}\n',
    'form.request.yaml':
      'path: form\nheaders: {content-type: application/x-www-form-urlencoded}\nbody: {c: two}\n',
  });
  const service = await serveBench(bench);
  const address = `${service.url}${service.generation.config.settings.hooks.path}/plain`;
  const curl = await fetch(address, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: '{"c":"two"}',
  });
  expect(curl.status).toBe(202);
  const { runId } = (await curl.json()) as { runId: string };
  const requestId = curl.headers.get('x-request-id') ?? runId;
  for (const file of ['nested', 'flat', 'form', 'chunks']) {
    const sent = await bench.run(['send', `${file}.request.yaml`, '--against', service.url], { env });
    expect(`${file}: ${sent.out}${sent.err}`).toMatch(/: 202 /);
  }
  const again = await bench.run(['replay', requestId, '--against', service.url], { env });
  expect(`${again.out}${again.err}`).toMatch(/202 /);
});
