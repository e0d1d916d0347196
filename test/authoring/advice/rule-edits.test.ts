/** The edits of rules that span lines: made in YAML's two styles and in JSON, each leaves fewer findings and no new one. */
import { describe, expect, test } from 'vitest';
import type { Finding } from '../../../src/base/document/document.ts';
import { applyEdits, parseDocument } from '../../../src/base/document/facts.ts';
import { adviseFile } from '../../support/mapping-compile.ts';
import { said } from '../../support/said.ts';

type Format = 'yaml' | 'json' | 'json5';

interface Checked {
  readonly found: readonly Finding[];
  readonly when: unknown;
}

function check(text: string, format: Format): Checked {
  const root = parseDocument({ file: `a.${format}`, text }, format).document?.root.value;
  const { match } = (root ?? { match: {} }) as { readonly match: { readonly when?: unknown } };
  return { found: adviseFile(text, format), when: match.when };
}

const yaml = (when: string): string => `id: a
match:
  path: a
  when:
${when.replaceAll(/^/gm, '    ')}
messageTemplate: x # to the agent
`;
const VAR = { var: 'labels' };
const CODE = { in: [{ var: 'code' }, ['a', 'b']] };

const OPS = { substr: [{ var: 'key' }, 0, 4] };

const CASES: readonly (readonly [string, Format, string, unknown])[] = [
  ['contains, block', 'yaml', yaml('contains:\n  - var: labels\n  - urgent'), { in: ['urgent', VAR] }],
  [
    'contains, an operand of two lines',
    'yaml',
    yaml('contains:\n  - merge:\n      - var: labels\n      - [c]\n  - urgent'),
    { in: ['urgent', { merge: [VAR, ['c']] }] },
  ],
  ['contains, flow', 'yaml', yaml('{contains: [\n  {var: labels},\n  urgent\n]}'), { in: ['urgent', VAR] }],
  [
    'contains, inside and',
    'yaml',
    yaml('and:\n  - has:\n      - var: labels\n      - urgent\n  - var: open'),
    { and: [{ in: ['urgent', VAR] }, { var: 'open' }] },
  ],
  ['in, block list of texts', 'yaml', yaml('in:\n  - - a\n    - b\n  - var: code'), CODE],
  ['in, block and flow', 'yaml', yaml('in:\n  - [a, b]\n  - { var: code }'), CODE],
  ['in, flow', 'yaml', yaml('{in: [\n    [a, b],\n    {var: code}]}'), CODE],
  [
    'in, words of one text, block',
    'yaml',
    yaml("in:\n  - var: code\n  - 'a, b'"),
    { in: [{ var: 'code' }, ['a', 'b']] },
  ],
  ['equality with a list, block', 'yaml', yaml('===:\n  - var: code\n  - - a\n    - b'), CODE],
  [
    'equality with a list, a variable with a default',
    'yaml',
    yaml('===:\n  - var: [code, z]\n  - [a, b]'),
    { in: [{ var: ['code', 'z'] }, ['a', 'b']] },
  ],
  ['inequality with a list', 'yaml', yaml('"!=": [{var: code}, [a, b]]'), { '!': [CODE] }],
  ['strict inequality with a list', 'yaml', yaml('"!==":\n  - var: code\n  - [a, b]'), { '!': [CODE] }],
  [
    'two constants, block inside and',
    'yaml',
    yaml('and:\n  - ===:\n      - action\n      - opened\n  - var: open'),
    { and: [{ '===': [{ var: 'action' }, 'opened'] }, { var: 'open' }] },
  ],
  ['startsWith, block', 'yaml', yaml('startsWith:\n  - var: key\n  - OPS-'), { '===': [OPS, 'OPS-'] }],
  ['not in, block', 'yaml', yaml('not in:\n  - var: code\n  - [a, b]'), { '!': CODE }],
  ['not in, a name', 'yaml', yaml('notIn: [code, [a, b]]'), { '!': CODE }],
  // Truth would not do: what is false, or 0, is there.
  ['exists, a name', 'yaml', yaml('exists: a.b'), { '!': { missing: ['a.b'] } }],
  ['exists, a variable', 'yaml', yaml('isSet: {var: a.b}'), { '!': { missing: ['a.b'] } }],
  ['is empty, a name in a list', 'yaml', yaml('isEmpty: [a.b]'), { '!': { var: 'a.b' } }],
  ['startsWith, a name', 'yaml', yaml('startsWith: [key, OPS-]'), { '===': [OPS, 'OPS-'] }],
  [
    'does not contain, a name',
    'yaml',
    yaml('notContains: [labels, urgent]'),
    { '!': { in: ['urgent', VAR] } },
  ],
  [
    'contains, JSON',
    'json',
    '{\n "id": "a",\n "match": {"path": "a", "when": {\n  "contains": [\n   {"var": "labels"},\n   "urgent"\n  ]\n }},\n "messageTemplate": "x"\n}\n',
    { in: ['urgent', VAR] },
  ],
  [
    'equality with a list, JSON5',
    'json5',
    "{\n id: 'a',\n match: {path: 'a', when: {\n  '===': [{var: 'code'},\n   ['a', 'b']],\n }},\n messageTemplate: 'x',\n}\n",
    CODE,
  ],
];

describe('a rule that spans lines is mended', () => {
  test.each(CASES)('%s', (_what, format, text, when) => {
    const before = check(text, format);
    expect(before.found).toHaveLength(1);
    const edits = before.found.flatMap(({ edit }) => (edit === undefined ? [] : [edit]));
    const fixed = applyEdits(text, edits);
    const after = check(fixed, format);
    expect([fixed, after.found]).toEqual([fixed, []]);
    expect(after.when).toEqual(when);
    const comments = (of: string): readonly string[] => of.match(/(?:#|\/\/).*$/gm)?.toSorted() ?? [];
    expect(comments(fixed)).toEqual(comments(text));
  });
});

test.each(["contains: [{var: labels}, '']", "===: ['1', 1]", 'var: request.body.action'])(
  '%s is left to its author: what would be written may be another rule, or always true',
  (when) => {
    expect(check(yaml(when), 'yaml').found.map(({ edit }) => edit)).not.toContainEqual(expect.anything());
  },
);

test('a comment inside a rule that would be written anew is kept: the rule is left to its author', () => {
  const text = yaml('===:\n  # one of the two\n  - var: code\n  - [a, b]');
  expect(check(text, 'yaml').found.map(({ edit }) => edit)).toEqual([undefined]);
});

test.each([
  'exists: true',
  'exists: [a, b]',
  "isEmpty: ''",
  'isEmpty: [[a, b]]',
  'startsWith: key',
  'startsWith: [refs/, {var: ref}]',
  'startsWith: [[key], OPS-]',
  "endsWith: [{var: key}, '']",
  'endsWith: [key, a, b]',
  'notIn: a',
  'notIn: [code, a]',
  'notContains: [urgent, {var: labels}]',
  "notContains: [labels, '']",
  'notIn: [code, []]',
  'between: [size, 5, 1]',
  'between: [size, 1]',
  'between: [size, [1, 5]]',
  'matches: [key, ^OPS-]',
])('%s does not say enough: what is shown is a form, and nothing is written', (when) => {
  const { found } = check(yaml(when), 'yaml');
  expect(found.map(({ code, edit }) => [code, edit])).toEqual([['CONDITION_UNKNOWN_OPERATOR', undefined]]);
  expect(said(found[0]?.hint)).toMatch(/^write a rule like \{|^write no pattern, as conditions know none/);
});
