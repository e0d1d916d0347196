/** A harness that cannot fail proves nothing: planted changes are each found, and told apart. */
import { expect, test } from 'vitest';
import { compareCases, isStrict } from './classify.ts';
import { CaseRecord, cleaner, findingsIn, type FrozenCase, type FrozenFinding } from './record.ts';
import { report } from './report.ts';

const FINDING: FrozenFinding = {
  by: 'module',
  code: 'CONDITION_ARITY',
  place: 'a.yaml:1:29',
  severity: 'error',
  fix: ['a.yaml:1:29-40: {"in": [1, 2]}'],
  text: '"===" takes 2 operands, found 3; write {"in": [1, 2]}',
};
const OTHER: FrozenFinding = {
  ...FINDING,
  code: 'UNKNOWN_KEY',
  place: 'a.yaml:2:1',
  fix: [],
  text: 'unknown key "a"',
};

const frozen = (change: Partial<FrozenCase> = {}): FrozenCase => ({
  case: 'mapping/CONDITION_ARITY',
  findings: [FINDING, OTHER],
  facts: { 'exit of check': 1 },
  mended: { 'a.yaml': 'when: {}' },
  texts: { check: '2 errors' },
  ...change,
});

const kindsOf = (after: FrozenCase, before = frozen()): readonly (readonly [string, string, boolean])[] =>
  compareCases([before], [after]).map((each) => [each.kind, each.code, isStrict(each)]);

const changed = (change: Partial<FrozenFinding>): FrozenCase =>
  frozen({ findings: [{ ...FINDING, ...change }, OTHER] });

test('finds nothing where nothing changed', () => {
  expect(kindsOf(frozen())).toEqual([]);
});

test.each([
  ['a changed place', changed({ place: 'a.yaml:1:30' }), 'moved place', 'CONDITION_ARITY'],
  ['a lost fix', changed({ fix: [] }), 'lost fix', 'CONDITION_ARITY'],
  ['another fix', changed({ fix: ['a.yaml:1:29-40: {"in": [1]}'] }), 'changed fix', 'CONDITION_ARITY'],
  ['another severity', changed({ severity: 'warning' }), 'changed severity', 'CONDITION_ARITY'],
  ['a lost finding', frozen({ findings: [FINDING] }), 'lost finding', 'UNKNOWN_KEY'],
  [
    'a new finding',
    frozen({ findings: [FINDING, OTHER, { ...OTHER, place: 'a.yaml:3:1' }] }),
    'new finding',
    'UNKNOWN_KEY',
  ],
  ['another mended file', frozen({ mended: { 'a.yaml': 'when: []' } }), 'changed mended file', 'a.yaml'],
  ['a file that is not mended', frozen({ mended: {} }), 'changed mended file', 'a.yaml'],
  ['another exit code', frozen({ facts: { 'exit of check': 0 } }), 'changed fact', 'exit of check'],
])('does not let %s pass', (_what, after, kind, code) => {
  expect(kindsOf(after)).toEqual([[kind, code, true]]);
});

test.each([
  [
    'a reworded hint',
    changed({ text: '"===" has 3 operands; write {"in": [1, 2]}' }),
    'reworded',
    'CONDITION_ARITY',
  ],
  ['another order', frozen({ findings: [OTHER, FINDING] }), 'other order', 'CONDITION_ARITY'],
  ['another audience', changed({ audience: 'author' }), 'other audience', 'CONDITION_ARITY'],
  ['another output', frozen({ texts: { check: 'two errors' } }), 'other output', 'check'],
])('lists %s for a reader', (_what, after, kind, code) => {
  expect(kindsOf(after)).toEqual([[kind, code, false]]);
});

test('a case that is gone is a loss, a new one is none', () => {
  expect(compareCases([frozen()], []).map(({ kind }) => kind)).toEqual(['lost case']);
  expect(compareCases([], [frozen()]).map(({ kind }) => kind)).toEqual(['new case']);
});

test('of two findings with one code and place, the one that is gone is named', () => {
  const twin = { ...OTHER, text: 'unknown key "b"' };
  const [lost, ...more] = compareCases([frozen({ findings: [OTHER, twin] })], [frozen({ findings: [twin] })]);
  expect([lost?.before, more]).toEqual(['module at a.yaml:2:1: unknown key "a"', []]);
});

test('a fix that stood in words alone is kept where it becomes data, and lost where its text is gone', () => {
  const hint = {
    ...FINDING,
    by: 'explain',
    code: 'instead',
    fix: ['payload.action'],
    text: 'did you mean that? write payload.action',
  };
  const kinds = (after: Partial<FrozenFinding>): readonly string[] =>
    compareCases([frozen({ findings: [hint] })], [frozen({ findings: [{ ...hint, ...after }] })]).map(
      ({ kind }) => kind,
    );
  expect(kinds({ fix: ['payload.action'], text: 'the request has payload.action' })).toEqual(['reworded']);
  expect(kinds({ fix: [], text: 'replace it by payload.action' })).toEqual(['reworded']);
  expect(kinds({ fix: [], text: 'the request has another field' })).toEqual(['reworded', 'lost fix']);
  expect(kinds({ fix: ['payload.other'] })).toEqual(['changed fix']);
});

test('a code with a new name is the same, where the name is given', () => {
  const after = frozen({ findings: [{ ...FINDING, code: 'OPERANDS' }, OTHER] });
  expect(compareCases([frozen()], [after]).map(({ kind }) => kind)).toEqual(['lost finding', 'new finding']);
  expect(compareCases([frozen()], [after], { CONDITION_ARITY: 'OPERANDS' })).toEqual([]);
});

test('findings are read from what commands print, and never from a request', () => {
  const printed = {
    request: { payload: { code: 'not', text: 'ours' } },
    considered: [{ notes: [{ code: 'instead', at: 'm.yaml:2:1', text: 'the request has b; write {{b}}' }] }],
    findings: [
      {
        severity: 'error',
        code: 'X',
        message: 'm',
        file: 'm.yaml',
        line: 1,
        column: 2,
        hint: 'write y',
        fix: { text: 'y' },
      },
    ],
  };
  expect(findingsIn('explain', printed)).toEqual([
    {
      by: 'explain',
      code: 'instead',
      place: 'm.yaml:2:1',
      fix: ['{{b}}'],
      text: 'the request has b; write {{b}}',
    },
    { by: 'explain', code: 'X', place: 'm.yaml:1:2', severity: 'error', fix: ['y'], text: 'm; write y' },
  ]);
});

test('a record names no folder and no id of its run', () => {
  const record = new CaseRecord('c');
  const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
  record.texts['check'] = `/tmp/sluice-freeze-AbCdEf/m.yaml ${id} 7c9e6679-7425-40de-944b-e07fc1f90ae7 ${id}`;
  expect(JSON.parse(record.toLine(cleaner(['/tmp/sluice-freeze-AbCdEf'])))).toMatchObject({
    texts: { check: 'm.yaml ID-1 ID-2 ID-1' },
  });
});

test('differences of text are counted by code, and alike ones are shown once', () => {
  const cases = ['a', 'b'].map((name) => changed({ text: `"${name}" is no operator` }));
  const before = cases.map((each, index) => ({
    ...frozen(),
    case: `c${String(index)}`,
    findings: [{ ...(each.findings[0] as FrozenFinding) }, OTHER],
  }));
  const after = before.map((each) => ({
    ...each,
    findings: each.findings.map((own) => ({ ...own, text: own.text.replace('no', 'not an') })),
  }));
  const { strict, review } = report(compareCases(before, after));
  expect(strict).toBe('code, place and fix: equal');
  expect(review).toContain('| reworded | CONDITION_ARITY | 2 |');
  expect(review.match(/^## 2 × reworded CONDITION_ARITY/gm)).toHaveLength(1);
});
