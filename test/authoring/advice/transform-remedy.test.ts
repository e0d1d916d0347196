/** What explain advises where a transform threw: the words of the error, and what the body has. */
import { expect, test } from 'vitest';
import { evaluationFindings } from '../../../src/authoring/advice/requests.ts';
import type { Evaluation } from '../../../src/engine/hook/hook.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import type { TransformReply } from '../../../src/engine/sandbox/sandbox.ts';
import { evaluateHook, settingsWith } from '../../support/hook-fixture.ts';
import { said } from '../../support/said.ts';

const settings = settingsWith({ table: '[{id: m, match: {path: h}, transform: a.ts}]' });

type Read = Extract<TransformReply, { readonly kind: 'failed' }>['read'];

const remedyIn = (evaluation: Evaluation): string =>
  said(evaluationFindings(evaluation).find(({ code }) => code === 'remedy')?.message);

/** What is advised where a call ended so. */
function endingOf(answer: object): string {
  const reply = { tookMs: 1, logs: [], logsDropped: 0, ...answer } as unknown as TransformReply;
  const { evaluation } = evaluateHook({ payload: {} }, settings, { answer: () => reply });
  return remedyIn(evaluation);
}

function remedyOf(message: string, payload: JsonValue, read?: Read): string {
  const { evaluation } = evaluateHook({ payload }, settings, {
    answer: () => ({
      kind: 'failed',
      failure: 'user-error',
      name: 'TypeError',
      message,
      tookMs: 1,
      logs: [],
      logsDropped: 0,
      position: { file: 'transforms/a.ts', line: 16, column: 26 },
      ...(read === undefined ? {} : { read }),
    }),
  });
  return remedyIn(evaluation);
}

const ORDER = { data: { order: { total: 5, lines: [1] } }, id: 1 };
const USUAL = 'correct the transform: it gets one argument';

test.each([
  // What the code read is not known: a field of the same name may be another thing.
  ["Cannot read properties of undefined (reading 'total')", USUAL],
  ["Cannot read properties of null (reading 'nothing')", USUAL],
  ['payload.data.order.map is not a function', USUAL],
  ['payload.id.map is not a function', USUAL],
])('%s', (message, text) => {
  expect(remedyOf(message, ORDER)).toContain(text);
});

test.each<[Read, JsonValue, string]>([
  [
    { expression: 'assignee', path: 'payload.data.assignee' },
    { data: { team: { name: 'a' } }, actor: { name: 'b' } },
    'the request has no data.assignee, which transforms/a.ts:16 reads: write assignee?.name, and behind the whole expression ??',
  ],
  [
    { expression: 'data.assignee', path: 'payload.data.assignee' },
    { data: { assignee: null } },
    'data.assignee is null in this request, and transforms/a.ts:16 reads on from it: write data.assignee?.name',
  ],
  [
    { expression: 'payload.issue', path: 'payload.issue' },
    { data: { issue: { name: 'a' } } },
    'the request has no issue, which transforms/a.ts:16 reads; it has payload.data.issue: read that',
  ],
  [
    { expression: 'payload.issue', path: 'payload.issue' },
    { payload: { links: {} } },
    'the request has no issue, which transforms/a.ts:16 reads: write payload.issue?.name',
  ],
  // What the code reads is there: the text of a declaration was another one's.
  [{ expression: 'a', path: 'payload.a' }, { a: {}, b: 1 }, USUAL],
  [{ expression: 'user' }, { b: 1 }, USUAL],
])('names what a transform that reads %j may mean of %j', (read, payload, text) => {
  expect(remedyOf("Cannot read properties of undefined (reading 'name')", payload, read)).toContain(text);
});

test('a very wide body is looked through in part, and at once', () => {
  const wide = Object.fromEntries(Array.from({ length: 150_000 }, (_, index) => [`k${index}`, {}]));
  const timeOf = (remedy: string, read?: Read): number => {
    const before = performance.now();
    expect(remedyOf('it is not a function', { nested: { total: 1 }, wide }, read)).toContain(remedy);
    return performance.now() - before;
  };
  const withoutSearch = timeOf(USUAL);
  const read = { expression: 'payload.total', path: 'payload.total' };
  const withSearch = timeOf('it has payload.nested.total: read that', read);
  expect(withSearch).toBeLessThan(5 * withoutSearch);
});

test('a text that holds JSON is to be parsed', () => {
  const read = { expression: 'AlarmName', path: 'payload.Message.AlarmName' };
  expect(
    remedyOf("Cannot read properties of undefined (reading 'name')", { Message: '{"AlarmName":"a"}' }, read),
  ).toContain(
    'payload.Message is a text that holds JSON: write JSON.parse(payload.Message) in place of payload.Message',
  );
});

test.each<[object, JsonValue, string]>([
  [{}, 'status=ok', 'the transform gave no text in message; payload is one text in this request'],
])('a result that is none of an action is told: %j', (result, payload, text) => {
  const reply = {
    kind: 'ok',
    json: JSON.stringify(result),
    tookMs: 1,
    logs: [],
    logsDropped: 0,
  } as TransformReply;
  const { evaluation } = evaluateHook({ payload }, settings, { answer: () => reply });
  expect(remedyIn(evaluation)).toContain(text);
});

test('that a transform returned nothing is told once', () => {
  expect(endingOf({ kind: 'ok' })).toBe('');
});
