import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDocument, parseDocument } from '../../../src/base/document/facts.ts';
import type { DocumentFormat } from '../../../src/base/document/parse-document.ts';

function valueOf(text: string, format: DocumentFormat): unknown {
  const { document, findings } = parseDocument({ file: 'f', text }, format);
  expect(findings).toEqual([]);
  return document?.root.value;
}

const mail = { account: 'me@example.org', folders: ['INBOX'] };

test('an edit of YAML keeps comments, order and block texts', () => {
  const text = `# top
hooks:
  token: \${T}   # from the environment

  mappings:
    - id: a # first
      messageTemplate: |
        one

        two
server: {port: 1}
`;
  expect(
    editDocument({ file: 'f', text }, 'yaml', [
      { path: ['hooks', 'mail'], value: mail },
      { path: ['server', 'port'], value: 2 },
    ]),
  ).toBe(
    `# top
hooks:
  token: \${T} # from the environment

  mappings:
    - id: a # first
      messageTemplate: |
        one

        two
  mail:
    account: me@example.org
    folders:
      - INBOX
server: {port: 2}
`,
  );
});

test('an edit of YAML keeps what is written beside a value, its style, and the elements of a list that grows', () => {
  const text = `# for all
presets: [] # none so far
port: 1 # ours
names:
  - a # first
  # second
  - b
`;
  const edits = [
    { path: ['presets'], value: ['mail'] },
    { path: ['port'], value: 2 },
    { path: ['names'], value: ['a', 'b', 'c'] },
  ] as const;
  expect(editDocument({ file: 'f', text }, 'yaml', edits)).toBe(`# for all
presets: [mail] # none so far
port: 2 # ours
names:
  - a # first
  # second
  - b
  - c
`);
});

test('an edit of JSON5 changes nothing but its place', () => {
  const text = `{
  // ours
  hooks: {
    enabled: true, // on
    token: 'x', /* last */
  },
  list: [1,2,],
}
`;
  const edited = editDocument({ file: 'f', text }, 'json5', [
    { path: ['hooks', 'mail'], value: mail },
    { path: ['hooks', 'enabled'], value: false },
  ]);
  expect(edited).toBe(`{
  // ours
  hooks: {
    enabled: false, // on
    token: 'x',
    "mail": {
      "account": "me@example.org",
      "folders": [
        "INBOX"
      ]
    }, /* last */
  },
  list: [1,2,],
}
`);
});

test.each(['yaml', 'json', 'json5'] as const)(
  'after an edit of %s the value is there and all others are as before',
  (format) => {
    const keys = fc.constantFrom('a', 'b', 'c');
    const objects = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(1, 'x: y', 'two\nlines\n', true),
        fc.dictionary(keys, tie('node'), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).node;
    fc.assert(
      fc.property(
        fc.dictionary(keys, objects, { noNullPrototype: true }),
        keys,
        fc.jsonValue({ maxDepth: 1 }),
        (content, key, value) => {
          const plain = JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'p')) as unknown;
          const text = JSON.stringify(content, undefined, 2);
          const edits = [
            { path: ['new', key], value: plain },
            { path: [key], value: plain },
          ] as const;
          expect(valueOf(editDocument({ file: 'f', text }, format, edits), format)).toEqual({
            ...content,
            new: { [key]: plain },
            [key]: plain,
          });
        },
      ),
      { numRuns: 60, seed: 2 },
    );
  },
);

test.each([
  ['json', '{"a": 1}', ['a', 'b']],
  ['json', '[]', ['a']],
  ['json5', '{a: ', ['a']],
  ['yaml', 'a: 1', ['a', 'b']],
  ['yaml', 'a: [', ['a']],
] as const)('an edit of %s %s at %j is refused', (format, text, path) => {
  expect(() => editDocument({ file: 'f', text }, format, [{ path, value: 1 }])).toThrow();
});
