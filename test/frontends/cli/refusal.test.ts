import { expect, test } from 'vitest';
import { HOOK_ERRORS } from '../../../src/base/errors.ts';
import { remedyOf } from '../../../src/authoring/advice/requests.ts';
import type { DecisionRecord } from '../../../src/engine/storage/storage.ts';
import type { RoutingTable } from '../../../src/engine/mapping/mapping.ts';
import { settingsWith } from '../../support/hook-fixture.ts';
import { answerLines } from '../../../src/frontends/cli/authoring/format-stored.ts';
import { reasonNotes } from '../../../src/authoring/explanation/decision-reasons.ts';
import { decisionLine, findingLines } from '../../../src/authoring/explanation/explanation.ts';

const DECISION = {
  requestId: '0b0e7a52-6d3c-4a0b-8d55-3c1b1f3f0a11',
  receivedAt: Date.parse('2026-03-01T12:00:00Z'),
  path: 'github',
  status: 405,
  outcome: 'rejected',
  code: 'method_not_allowed',
  actionIds: [],
  generation: 'g1',
  tookMs: 1,
  bodyBytes: 0,
} as const;

const formatDecision = (decision: DecisionRecord, table?: RoutingTable): string =>
  `${[...answerLines(decision), ...reasonNotes(decision, table).flatMap((each) => findingLines(each))].join('\n')}\n`;

test('a refusal is explained with why and what to change', () => {
  const text = formatDecision(DECISION);
  expect(text).toContain('405 method_not_allowed');
  expect(text).toContain('\nhint: set the method of the sender to the one this path takes\n');
});

test('where the mapping of a path is known, it says where its method is to be written', () => {
  const { table } = settingsWith({ table: '[{id: push, match: {path: github}, messageTemplate: x}]' });
  const findings = [{ code: 'method', facts: { found: 'GET' } }];
  const text = formatDecision({ ...DECISION, findings }, table);
  expect(text).toMatch(
    /\nhint: where the sender only asks .* write the line challenge: \{probe: GET\} in push \(.*:1:2\), beside match; to take events by GET, write the line method: GET in push/,
  );
  expect(text.match(/hint:/g)).toHaveLength(1);
});

test('a body that was not read has no length', () => {
  expect(formatDecision(DECISION)).toContain(', body 0 B, took');
  expect(formatDecision({ ...DECISION, bodyUnread: true })).toContain(', body not read, took');
});

test('a mapping that was taken explains itself: no hint about the request is added', () => {
  const text = formatDecision({ ...DECISION, status: 400, code: 'invalid_body', mappingId: 'push' });
  expect(text).not.toContain('hint:');
});

test('every refusal says what to change, or explains itself', () => {
  const silent = Object.keys(HOOK_ERRORS).filter((code) => remedyOf(code, false) === undefined);
  // What was found of the proof, and the name of the field with what it takes, say it better. A worker ends its turn
  // when its attempt is over: nobody has to change anything.
  expect(silent).toEqual(['invalid_field', 'unauthorized', 'attempt_over']);
});

test('what rendered empty is told with what the request has instead, and what it leads to', () => {
  const text = formatDecision({
    ...DECISION,
    status: 202,
    outcome: 'accepted',
    empty: [
      { field: 'sessionKey', expression: 'issue.id', place: 'a.yaml:3:4', instead: ['data.id'] },
      { field: 'dedupe.key', expression: 'x', place: 'a.yaml:4:4' },
    ],
  });
  expect(text).toContain('· sessionKey has nothing for issue.id; the request has data.id  a.yaml:3:4\n');
  expect(text).toContain('share one conversation');
  expect(text).toContain('requests that differ only there count as repeats');
});

test('a request of a known kind gets its note in place of the general hint', () => {
  const findings = [{ code: 'address_check', facts: { provider: 'Slack' } }];
  const text = formatDecision({ ...DECISION, status: 404, code: 'no_mapping_matched', missed: [], findings });
  expect(text).toContain('    challenge: slack\n  this is how Slack checks the address');
  expect(text).not.toContain('otherwise: skip');
});

test('requests says in plain words what was odd, without the codes of warnings', () => {
  const note = decisionLine({ ...DECISION, status: 202, warnings: ['printed_json', 'unknown_field'] });
  expect(note).toBe('printed json, unknown field');
});

test('a list says in the words of an explanation why a mapping missed, whatever part of it did not hold', () => {
  const at = { mappingId: 'push', place: 'a.yaml:3:4' };
  const leaf = '{"==":[{"var":"kind"},"a"]}';
  for (const [miss, said, found] of [
    [{ part: 'source', leaf: 'gh', why: 'missing' }, 'source must be "gh", and the request had none'],
    [{ part: 'source', leaf: 'gh', why: 'different' }, 'source must be "gh", and the request had "gl"', 'gl'],
    [{ part: 'when', leaf, why: 'unknown' }, `when ${leaf} could not be judged`],
    [
      { part: 'when', leaf, why: 'missing', variable: 'kind', instead: ['type'] },
      `when ${leaf} did not hold: kind was not sent; the request has type`,
    ],
    [{ part: 'when', leaf, why: 'different' }, `when ${leaf} did not hold: another value was sent`],
  ] as const) {
    const decision = { ...DECISION, status: 404, code: 'no_mapping_matched', missed: [{ ...at, ...miss }] };
    expect(decisionLine(decision, new Map(found && [['push', found]]))).toBe(`push: ${said} a.yaml:3:4`);
    if (found === undefined) expect(formatDecision(decision)).toContain(`✗ push: ${said}  a.yaml:3:4\n`);
  }
});

test('a decision from before the upgrade says so, and what is left of it', () => {
  const refusal = { scheme: 'github', code: 'wrong-secret' };
  const text = formatDecision({ ...DECISION, code: 'unauthorized', status: 401, isOlder: true, refusal });
  expect(text).toContain('from before the upgrade');
  expect(text).toContain('✗ proof of github\nhint: wrong-secret');
});
