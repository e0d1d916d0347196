/** What explain advises where a transform threw: the words of the error, and what the body has. */
import { expect, test } from 'vitest';
import { evaluationFindings } from '../../../src/authoring/advice/requests.ts';
import type { Evaluation } from '../../../src/engine/hook/hook.ts';
import { hintForGlobal } from '../../../src/authoring/advice/vocabulary/node-parts.ts';
import type { JsonValue } from '../../../src/base/json.ts';
import type { TransformReply } from '../../../src/engine/sandbox/sandbox.ts';
import { evaluateHook, settingsWith } from '../../support/hook-fixture.ts';
import { said } from '../../support/said.ts';

const settings = settingsWith({ table: '[{id: m, match: {path: h}, transform: a.ts}]' });

const remedyIn = (evaluation: Evaluation): string =>
  said(evaluationFindings(evaluation).find(({ code }) => code === 'remedy')?.message);

/** What is advised where a call ended so. */
function endingOf(answer: object): string {
  const reply = { tookMs: 1, logs: [], logsDropped: 0, ...answer } as unknown as TransformReply;
  const { evaluation } = evaluateHook({ payload: {} }, settings, { answer: () => reply });
  return remedyIn(evaluation);
}

function remedyOf(message: string, payload: JsonValue): string {
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
    }),
  });
  return remedyIn(evaluation);
}

test('an answer of HTTP is no request that the agent could make', () => {
  expect(hintForGlobal('Response')).toMatch(/^return \{ message: … \}/);
  expect(hintForGlobal('fetch')).toMatch(/^let the agent fetch it/);
});

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
