/** What a service keeps by default of requests, and what is told of them from it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { openBench, serveBench, TOKEN } from '../../support/cli-service.ts';

const CONFIG = `hooks: {enabled: true, token: ${TOKEN}}
server: {port: 0}
gateway: {heartbeat: {everySeconds: 0}}
`;
const ORDER = `id: order
match: {path: order, when: {"===": [{var: order.kind}, paid]}}
sessionKey: "hook:order:{{order.id}}"
messageTemplate: "Order of {{order.customer.name}}: {{order.notes}}"
deliver: false
`;
const BODY = {
  order: {
    kind: 'paid',
    id: 7,
    customer: { name: 'Secretive Person', password: 'hunter2secret' },
    total: 99.5,
  },
  order_token: 'tok-secretive',
};

async function started(files: Readonly<Record<string, string>> = {}) {
  const bench = openBench({ 'sluice.yaml': CONFIG, 'mappings/order.yaml': ORDER, ...files });
  const service = await serveBench(bench);
  const post = async (path: string, body: string): Promise<string> => {
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'x-private': 'Secretive',
    };
    const response = await fetch(`${service.url}/hooks/${path}?name=Secretive`, {
      method: 'POST',
      headers,
      body,
    });
    await response.text();
    return response.headers.get('x-request-id') ?? '';
  };
  const keptOf = async (id: string) => {
    const storage = await openStorage(`sqlite:${bench.folder}/.sluice/sluice.db`, { mode: 'attached' });
    try {
      await expect.poll(() => storage.findDecision(id)).toBeDefined();
      return await storage.findKeptRequest(id);
    } finally {
      await storage.close();
    }
  };
  return { bench, service, post, keptOf };
}

test('of an accepted request the shape is kept, with the values that decided, and it is explained by it', async () => {
  const { bench, post, keptOf } = await started();
  const id = await post('order', JSON.stringify(BODY));
  const kept = await keptOf(id);
  expect(kept).toMatchObject({ kind: 'shape', path: 'order' });
  expect(kept?.json).not.toMatch(/secretive|hunter2|99\.5/i);
  expect(JSON.parse(kept?.json ?? '')).toMatchObject({
    shape: {
      order: { kind: ['=', 'paid'], id: ['=', 7], customer: { name: 16, password: 13 }, total: 'number' },
    },
    headers: { 'x-private': '…' },
    query: { name: '…' },
  });
  const { out } = await bench.run(['explain', id, '--all']);
  expect(out).toContain('Its shape was kept, with the values that decided');
  expect(out).toContain('messageTemplate has nothing for order.notes');
  expect(out).toContain('| Order of …(16 characters):');
  expect(out).not.toMatch(/hunter2/);
});

test('what was refused is kept whole, also a body that could not be read', async () => {
  const { bench, post, keptOf } = await started();
  const missed = await post('order', '{"order": {"kind": "open"}}');
  expect(await keptOf(missed)).toMatchObject({ kind: 'whole', path: 'order' });
  const broken = await post('order', '{"order": {"kind": "paid",}}');
  expect(await keptOf(broken)).toMatchObject({ kind: 'whole', path: 'order' });
  const { out } = await bench.run(['explain', broken]);
  expect(out).toContain('the body is not JSON at line 1, column 27');
  expect(out).toContain('remove the comma before the closing bracket');
  const replayed = await bench.run(['replay', broken]);
  expect(replayed.out).toContain('the body is not JSON at line 1, column 27');
});

test('a path says what is kept of it in the same words, and check lists what holds', async () => {
  const { bench, post, keptOf } = await started({
    'mappings/other.yaml':
      '{match: {path: quiet}, keepRequests: none, messageTemplate: hi, deliver: false}\n',
    'mappings/whole.yaml': '{match: {path: whole}, keepRequests: all, messageTemplate: hi, deliver: false}\n',
  });
  expect(await keptOf(await post('quiet', '{}'))).toBeUndefined();
  expect(await keptOf(await post('quiet', 'no json'))).toBeUndefined();
  expect(await keptOf(await post('whole', '{"a":1}'))).toMatchObject({ kind: 'whole' });
  const { out } = await bench.run(['check']);
  expect(out).toContain(
    'requests that serve keeps: those that were refused or failed, and the shapes of accepted ones; quiet: none; whole: all, whole (64 MiB, 1 day)',
  );
});

test('a request of yesterday is judged by the mappings of yesterday, and what those of today would do is said', async () => {
  const { bench, service, post } = await started();
  const missed = await post('order', '{"order": {"kind": "open", "id": 1}}');
  const taken = await post('order', JSON.stringify(BODY));
  await bench.run(['explain', taken]);
  writeFileSync(
    join(bench.folder, 'mappings/order.yaml'),
    ORDER.replace('paid', 'open').replace('id: order', 'id: renamed'),
  );
  await service.reload();
  const { out } = await bench.run(['explain', missed]);
  expect(out).toContain('as they were then');
  expect(out).toContain('"paid"');
  expect(out).toContain('mappings/order.yaml:2:');
  expect(out).toMatch(
    /The mappings and transforms of now judge it otherwise:\n.*then: rejected.*\n.*now: {2}accepted, mapping renamed/,
  );
  const again = await bench.run(['explain', taken]);
  expect(again.out).toMatch(/mapping order/);
  expect(again.out).toMatch(/now: {2}rejected 404 no_mapping_matched/);
});

test('a literal secret of a mapping is not kept with its file', async () => {
  const secret = 'literal-secret-0123456789';
  const { bench, post, keptOf } = await started({
    'mappings/signed.yaml': `# api_key: ${secret}\n{match: {path: signed}, messageTemplate: hi, deliver: false}\n`,
  });
  await keptOf(await post('order', JSON.stringify(BODY)));
  const storage = await openStorage(`sqlite:${bench.folder}/.sluice/sluice.db`, { mode: 'attached' });
  const [decision] = await storage.listDecisions({ limit: 1 });
  const kept = await storage.findGeneration(decision?.generation ?? '');
  await storage.close();
  const { inflateRawSync } = await import('node:zlib');
  const texts = kept?.files.map(({ content }) => inflateRawSync(Buffer.from(content, 'base64')).toString());
  expect(texts?.join('\n')).toContain('path: signed');
  expect(texts?.join('\n')).not.toContain(secret);
});
