/** A repeat that was not found, and events that did not meet or should not: explain says which fields kept them apart. */
import { expect, test } from 'vitest';
import { openBench, serveBench, TOKEN } from '../../support/cli-service.ts';

const CONFIG = `hooks:
  enabled: true
  token: ${TOKEN}
  defaults: { deliver: false }
server: { port: 0 }
storage: { keepRequests: { which: all } }
gateway: { runner: { kind: echo } }
`;

const MAPPINGS = `
- { id: notice, match: { path: intercom }, dedupe: body, messageTemplate: '{{text}}' }
- { id: reply, match: { path: chat }, sessionKey: 'hook:chat:{{payload.id}}', messageTemplate: '{{text}}' }
- { id: order, match: { path: shop }, sessionKey: 'hook:shop:{{order.id}}', messageTemplate: '{{text}}' }
- { id: remark, match: { path: notion }, sessionKey: 'hook:notion:{{entity.id}}', messageTemplate: '{{entity.type}}' }
- { id: kind, match: { path: kind }, sessionKey: 'hook:kind:{{type}}', messageTemplate: '{{type}}' }
- { id: bill, match: { path: bill }, dedupe: { key: '{{data.id}}' }, messageTemplate: '{{status}}' }
- { id: beat, match: { path: beat }, dedupe: { key: '{{monitor.id}}' }, messageTemplate: '{{msg}}' }
- { id: same, match: { path: same }, dedupe: body, messageTemplate: '{{status}}' }
`;

async function open(): Promise<{
  readonly send: (path: string, body: object, more?: Record<string, string>) => Promise<string>;
  readonly explained: (id: string) => Promise<string>;
}> {
  const bench = openBench({ 'sluice.yaml': CONFIG, 'mappings/all.yaml': MAPPINGS });
  const { url } = await serveBench(bench);
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const send = async (path: string, body: object, more: Record<string, string> = {}): Promise<string> => {
    const init = { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) };
    return String((await fetch(`${url}/hooks/${path}`, init)).headers.get('x-request-id'));
  };
  const explained = async (id: string): Promise<string> => {
    let out = '';
    await expect
      .poll(async () => (out = (await bench.run(['explain', id, '--all'])).out))
      .toMatch(/was kept|not kept/);
    return out.replaceAll(`${bench.folder}/`, '');
  };
  return { send, explained };
}

test('of a repeat what the event would have become', async () => {
  const { send, explained } = await open();
  const bill = {
    event_id: 'e1',
    notification_id: 'n1',
    occurred_at: 1,
    status: 'paused',
    data: { id: 'sub' },
  };
  const first = await send('bill', bill);
  const other = await explained(
    await send('bill', { ...bill, event_id: 'e2', notification_id: 'n2', status: 'canceled' }),
  );
  expect(other).toMatch(
    new RegExp(
      `a repeat of run \\S+ of request ${first}, by dedupe\\.key of its mapping: nothing new was made\\n`,
    ),
  );
  expect(other).toContain('outcome a repeat; a new event would be accepted: agent');
  expect(other).toContain('its dedupe key sub was there already');
  expect(other).not.toContain('prompt');
});

test('of a repeat of a sender that writes nothing new for a new event', async () => {
  const { send, explained } = await open();
  await send('same', { status: 'down' });
  const told = await explained(await send('same', { status: 'down' }));
  expect(told).toMatch(/a repeat of run .* by dedupe: body of its mapping: nothing new was made\n/);
  expect(told).toMatch(
    /\nhint: if it was a new event, remove dedupe: body, .* a repeat for 86400 s; or let the sender/,
  );
});

test('of a repeat by the header of its sender', async () => {
  const { send, explained } = await open();
  await send('kind', { type: 'a' }, { 'idempotency-key': 'nightly' });
  const told = await explained(await send('kind', { type: 'a' }, { 'idempotency-key': 'nightly' }));
  expect(told).toMatch(
    /a repeat, by the header idempotency-key: [^]* send another idempotency-key for each event/,
  );
});
