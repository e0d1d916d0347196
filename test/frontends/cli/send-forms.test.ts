/** `sluice send` of requests as they came: in the format that their own header names, and without headers of a connection. */
import { createHmac } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBench, serveBench, TOKEN } from '../../support/cli-service.ts';

const env = { SLUICE_HOOK_TOKEN: TOKEN };

test('a request file is sent in the format it names, and what a path took from "curl -d" as it came', async () => {
  const bench = openBench({
    'sluice.yaml': `hooks:
  enabled: true
  token: \${SLUICE_HOOK_TOKEN}
  mappings:
    - {id: plain, match: {path: plain}, messageTemplate: "{{a.b}}{{c}}", deliver: false}
    - {id: form, match: {path: form}, bodyFormat: form, messageTemplate: "{{c}}", deliver: false}
    - {id: mail, match: {path: mail}, verify: {scheme: mandrill, secrets: [{file: a.secret}]}, bodyFormat: form, messageTemplate: "{{mandrill_events}}", deliver: false}
server: {port: 0}
storage: {keepRequests: {which: all}}
`,
    'a.secret': 'the-secret-of-a-sender',
    'mail.request.yaml': 'path: mail\nbody: {mandrill_events: "[]"}\n',
    'named.request.yaml': 'path: form\nheaders: {content-type: application/json}\nbody: {c: two}\n',
    'tests/plain/form.request.yaml':
      'path: plain\nheaders: {content-type: application/x-www-form-urlencoded}\nbody: {c: two}\n',
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
  for (const [file, status] of Object.entries({ flat: 400, form: 202, named: 400, chunks: 202 })) {
    const hooks = `${service.url}/hooks/`;
    // oxlint-disable-next-line no-await-in-loop -- one answer after the other
    const sent = await bench.run(['send', `${file}.request.yaml`, '--against', hooks], { env });
    expect(`${file}: ${sent.out}${sent.err}`).toContain(`: ${status} `);
  }
  const signed = await bench.run(['send', 'mail.request.yaml', '--sign', '--against', service.url], { env });
  expect(`${signed.out}${signed.err}`).toMatch(/^202 /);
  await bench.run(['test', '--dir', 'tests'], { env: { ...env, CI: '' } });
  const expected = readFileSync(join(bench.folder, 'tests/plain/form.expected.yaml'), 'utf8');
  expect(expected).toContain('status: 400');
  const again = await bench.run(['replay', requestId, '--against', service.url], { env });
  expect(`${again.out}${again.err}`).toMatch(/202 /);
});

test('what "add --from" makes of a form takes its sender, whatever its signature is called', async () => {
  const bench = openBench({
    'sluice.yaml':
      'hooks: {enabled: true, token: "${SLUICE_HOOK_TOKEN}", mappingsDir: mappings}\nserver: {port: 0}\n',
    'mappings/note.txt': '',
    secret: 'a-secret-of-the-sender\n',
    'one.request.yaml':
      'path: x\nheaders: {content-type: application/x-www-form-urlencoded, x-acme-check: "sha1=[removed: 40 of hex]"}\nbody: {order: "7", state: paid}\n',
  });
  const added = await bench.run(['add', 'acme', '--from', 'one.request.yaml', '--secret-file', 'secret'], {
    env,
  });
  expect(added.exitCode, added.out + added.err).toBe(0);
  const mapping = readFileSync(join(bench.folder, 'mappings/acme.yaml'), 'utf8');
  expect(mapping).toContain(
    "verify: { scheme: hmac, header: x-acme-check, prefix: 'sha1=', algorithm: sha1,",
  );
  const service = await serveBench(bench);
  const body = 'order=7&state=paid';
  const signature = createHmac('sha1', 'a-secret-of-the-sender').update(body).digest('hex');
  const own = await fetch(`${service.url}/hooks/acme`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-acme-check': `sha1=${signature}` },
    body,
  });
  expect(own.status, await own.text()).toBe(202);
  for (const file of ['test/golden/acme/sample.request.yaml', 'tests/acme/sample.request.yaml']) {
    if (!existsSync(join(bench.folder, file))) continue;
    // oxlint-disable-next-line no-await-in-loop -- there is one of the two
    const sent = await bench.run(['send', file, '--sign', '--against', service.url], { env });
    expect(sent.out + sent.err).toMatch(/202 /);
  }
});
