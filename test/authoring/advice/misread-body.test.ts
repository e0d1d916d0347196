import { expect, test } from 'vitest';
import { findMisread } from '../../../src/authoring/advice/requests/request-notes.ts';
import type { HookRequest, JsonValue } from '../../../src/base/request.ts';
import { printed } from '../../support/printed.ts';

const request = (payload: JsonValue, contentType: string): HookRequest => ({
  id: '00000000-0000-4000-8000-000000000000',
  receivedAt: 0,
  seed: 0,
  nonce: '0'.repeat(16),
  path: 'x',
  url: '/hooks/x',
  headers: { 'content-type': contentType },
  query: {},
  payload,
  bodySha256: '',
});

test.each<[string, 'text' | 'form' | undefined, JsonValue, string, string]>([
  ['a form in parts', 'text', '--b\r\n', 'multipart/form-data; boundary=b', 'bodyFormat: form in its place'],
  ['XML', 'text', '<a/>', 'text/xml', 'bodyFormat: xml in its place'],
  ['JSON as text', 'text', '{"a":1}', 'text/plain', 'remove the line bodyFormat: text'],
  ['JSON as form', 'form', { '{"a":1}': '' }, 'text/plain', 'remove the line bodyFormat: form'],
  ['JSON twice', undefined, '{"a":1}', 'application/json', 'encoded it twice'],
])('%s that was read as something else is told the line', (_, bodyFormat, payload, type, words) => {
  const settings = bodyFormat === undefined ? {} : { bodyFormat };
  expect(printed(findMisread(request(payload, type), settings))).toMatchObject({
    code: 'body_is_text',
    message: expect.stringContaining(words) as string,
  });
});

test('a text that was sent as one is nothing odd', () => {
  expect(findMisread(request('a=1', 'text/plain'), { bodyFormat: 'text' })).toBeUndefined();
});
