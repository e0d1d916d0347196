/** What answers mean for a message, and how they are asked for over HTTP. */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { HOOK_ERRORS } from '../../../src/base/errors.ts';
import { endpointAnswer, httpEndpoint, judge } from '../../../src/service/mail/hook-endpoint.ts';
import { filterReason } from '../../../src/service/mail/offer-message.ts';
import { isGone, newHolder } from '../../../src/service/mail/leased-mailbox.ts';

describe('the verdict', () => {
  test('every error of a request is judged: for itself, for all mail, or as a failure that may pass', () => {
    const kinds = Object.entries(HOOK_ERRORS).map(([code, { status }]) => [
      code,
      judge({ status, code }).kind,
    ]);
    const of = (kind: string) => kinds.filter(([, is]) => is === kind).map(([code]) => code);
    expect(of('delivered')).toEqual(['idempotency_mismatch']);
    expect(of('failed')).toEqual([
      'transform_failed',
      'mapping_failed',
      'internal',
      'unknown_transfer_coding',
    ]);
    expect(of('delayed')).toEqual(
      expect.arrayContaining(['unauthorized', 'not_found', 'no_mapping_matched', 'backlog_full', 'stopping']),
    );
    expect(of('refused')).toEqual(
      expect.arrayContaining(['invalid_field', 'mapping_requires_message', 'body_too_large']),
    );
  });

  test('a mapping whose condition did not hold refuses one message, a name without a mapping all of them', () => {
    const problem = (...errors: readonly object[]): string =>
      JSON.stringify({ code: 'no_mapping_matched', detail: 'no mapping takes this request', errors });
    const missed = endpointAnswer(404, problem({ code: 'condition_not_met', message: 'x' }), undefined);
    expect(judge(missed).kind).toBe('refused');
    const unknown = endpointAnswer(404, problem(), undefined);
    expect(judge(unknown).kind).toBe('delayed');
  });

  test.each([200, 202, 204])('%i is delivered', (status) => {
    expect(judge({ status })).toEqual({ kind: 'delivered' });
  });

  test('an answer that is no problem of ours counts by its status', () => {
    expect(judge(endpointAnswer(502, '<html>bad gateway</html>', 3000))).toMatchObject({
      kind: 'delayed',
      code: 'http_502',
      retryAfterMs: 3000,
    });
  });
});

describe('over HTTP', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  async function serve(status: number, body: string): Promise<{ url: string; seen: unknown[] }> {
    const seen: unknown[] = [];
    server = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const { authorization, 'idempotency-key': key } = req.headers;
        seen.push({ url: req.url, authorization, key, body: Buffer.concat(chunks).toString() });
        res.writeHead(status, { 'retry-after': '7' }).end(body);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, seen };
  }

  const request = { path: 'mail', payload: { messages: [] }, key: 'mail-1' };

  test('sends the hook token and the key, and reads code, detail and Retry-After', async () => {
    const { url, seen } = await serve(503, JSON.stringify({ code: 'backlog_full', detail: 'later' }));
    const answer = await httpEndpoint({ url, token: 'hook-token' })(request, new AbortController().signal);
    expect(answer).toEqual({ status: 503, code: 'backlog_full', detail: 'later', retryAfterMs: 7000 });
    expect(seen).toEqual([
      { url: '/hooks/mail', authorization: 'Bearer hook-token', key: 'mail-1', body: '{"messages":[]}' },
    ]);
  });

  test('a service that is not there concerns all mail and is named', async () => {
    const { url } = await serve(200, '');
    server?.close();
    await once(server as Server, 'close');
    const answer = await httpEndpoint({ url, token: 't' })(request, new AbortController().signal);
    expect(judge(answer)).toMatchObject({ kind: 'delayed', code: 'unreachable' });
    expect(answer.detail).toContain('ECONNREFUSED');
  });
});

test.each([
  ['Ann <ann@Example.org>', '@example.org', undefined],
  ['ann@example.org', 'ANN@example.org', undefined],
  ['"@example.org" <eve@evil.example>', '@example.org', 'from'],
  ['eve@notexample.org', '@example.org', 'from'],
  ['Ann <ann@sub.example.org>', '@example.org', 'from'],
])('%s against %s is left out for: %s', (from, wanted, reason) => {
  expect(filterReason({ from, subject: '' }, { from: [wanted], subject: [] })).toBe(reason);
});

test('a holder is gone when its process of this machine is, and never on suspicion', () => {
  const holder = newHolder();
  expect(isGone(holder)).toBe(false);
  const [host, space, , random] = holder.split('/');
  expect(isGone([host, space, '999999999', random].join('/'))).toBe(true);
  expect(isGone(['elsewhere', space, '999999999', random].join('/'))).toBe(false);
  expect(isGone([host, 'other', '999999999', random].join('/'))).toBe(false);
});
