import { expect, test } from 'vitest';
import { didYouMean } from '../../../src/base/document/document.ts';
import { findingToJson, formatFindings, parseDocument } from '../../../src/base/document/facts.ts';
import { quoted, say, type Finding } from '../../../src/base/finding.ts';

const source = { file: 'maps/a,b: c%.yaml', text: 'id: one\nid: two\n  more\n' };

const findings: readonly Finding[] = [
  {
    severity: 'error',
    code: 'DUPLICATE_ID',
    message: quoted('the id is taken: 100%\nsecond line'),
    at: { source, start: 12, end: 15 },
    labels: [{ at: { source, start: 4, end: 7 }, text: say`first here` }],
    hint: say`rename, or remove`,
  },
  { severity: 'warning', code: 'SPAN', message: say`over two lines`, at: { source, start: 12, end: 22 } },
  { severity: 'error', code: 'NO_PLACE', message: say`belongs to no file` },
];

test('as JSON they have 1-based positions', () => {
  expect(findings.map(findingToJson)).toEqual([
    {
      severity: 'error',
      code: 'DUPLICATE_ID',
      message: 'the id is taken: 100%\nsecond line',
      file: source.file,
      line: 2,
      column: 5,
      endLine: 2,
      endColumn: 8,
      labels: [{ file: source.file, line: 1, column: 5, endLine: 1, endColumn: 8, text: 'first here' }],
      hint: 'rename, or remove',
    },
    {
      severity: 'warning',
      code: 'SPAN',
      message: 'over two lines',
      file: source.file,
      line: 2,
      column: 5,
      endLine: 3,
      endColumn: 7,
    },
    { severity: 'error', code: 'NO_PLACE', message: 'belongs to no file' },
  ]);
});

test('github prints one escaped annotation a line', () => {
  const file = 'maps/a%2Cb%3A c%25.yaml';
  expect(formatFindings(findings, { format: 'github' }).split('\n')).toEqual([
    `::error file=${file},line=2,col=5,endColumn=8,title=DUPLICATE_ID::the id is taken: 100%25%0Asecond line%0Arename, or remove`,
    `::warning file=${file},line=2,endLine=3,title=SPAN::over two lines`,
    '::error title=NO_PLACE::belongs to no file',
    '',
  ]);
});

test('sarif is a 2.1.0 log whose results name rules, regions and related places', () => {
  const log = JSON.parse(formatFindings(findings, { format: 'sarif' })) as Record<string, unknown>;
  const location = (region: object): object => ({
    artifactLocation: { uri: 'maps/a%2Cb%3A%20c%25.yaml' },
    region,
  });
  expect(log).toEqual({
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'sluice',
            rules: ['DUPLICATE_ID', 'SPAN', 'NO_PLACE'].map((id) => ({
              id,
              help: { text: `sluice check --explain ${id}` },
            })),
          },
        },
        columnKind: 'utf16CodeUnits',
        results: [
          {
            ruleId: 'DUPLICATE_ID',
            ruleIndex: 0,
            level: 'error',
            message: { text: 'the id is taken: 100%\nsecond line (rename, or remove)' },
            locations: [
              { physicalLocation: location({ startLine: 2, startColumn: 5, endLine: 2, endColumn: 8 }) },
            ],
            relatedLocations: [
              {
                id: 0,
                physicalLocation: location({ startLine: 1, startColumn: 5, endLine: 1, endColumn: 8 }),
                message: { text: 'first here' },
              },
            ],
          },
          {
            ruleId: 'SPAN',
            ruleIndex: 1,
            level: 'warning',
            message: { text: 'over two lines' },
            locations: [
              { physicalLocation: location({ startLine: 2, startColumn: 5, endLine: 3, endColumn: 7 }) },
            ],
          },
          { ruleId: 'NO_PLACE', ruleIndex: 2, level: 'error', message: { text: 'belongs to no file' } },
        ],
      },
    ],
  });
});

test('pretty shows every label with its line, one message line each, and counts', () => {
  expect(formatFindings(findings)).toBe(`error DUPLICATE_ID: the id is taken: 100% second line
  at maps/a,b: c%.yaml:2:5
  1 | id: one
> 2 | id: two
    |     ^^^
  3 |   more
  maps/a,b: c%.yaml:1:5: first here
> 1 | id: one
    |     ^^^
  hint: rename, or remove

warning SPAN: over two lines
  at maps/a,b: c%.yaml:2:5
  1 | id: one
> 2 | id: two
    |     ^^^
  3 |   more

error NO_PLACE: belongs to no file

2 errors, 1 warning
`);
  expect(formatFindings([])).toBe('');
});

test('pretty uses colours only where asked', () => {
  expect(formatFindings(findings)).not.toContain('\u001b');
  expect(formatFindings(findings, { color: true })).toContain('\u001b[31m');
});

test('pretty prints nothing that moves the cursor and cuts long lines around the carets', () => {
  const text = `${'a'.repeat(5000)}\u001b[2J\u202eX${'b'.repeat(5000)}`;
  const at = { source: { file: 'f\u001b[2J.yaml', text }, start: 5005, end: 5006 };
  const printed = formatFindings([{ severity: 'error', code: 'X', message: quoted('m\u001b[31m'), at }]);
  expect(printed).not.toContain('\u001b');
  expect(printed).not.toContain('\u202e');
  const [line = '', carets = ''] = printed.split('\n').slice(2);
  expect(line.length).toBeLessThan(200);
  expect(line.charAt(carets.indexOf('^'))).toBe('X');
});

test.each([
  ['yaml', 'token: hunter2\nx: [\n'],
  ['yaml', 'x: 1\ntoken: hunter2\nx: 2\n'],
  ['yaml', 'url: postgres://user:hunter2@host/db\nx: [\n'],
  ['yaml', 'token: {a: b} hunter2\n'],
  ['yaml', 'previousTokens:\n  - hunter2\n  - [\n'],
  ['yaml', 'secret: |\n  hunter2\nx: [\n'],
  ['json', '{"botToken": "hunter2",\n"x": }'],
  ['json', '{"token": hunter2}'],
  ['json5', "{apiKey: 'hunter2',\n x: ]}"],
] as const)('a %s file that does not parse shows no secret: %s', (format, text) => {
  const { findings } = parseDocument({ file: 'f', text }, format);
  expect(findings).not.toEqual([]);
  expect(JSON.stringify(findings.map(findingToJson))).not.toContain('hunter2');
  for (const kind of ['pretty', 'github', 'sarif'] as const) {
    expect(formatFindings(findings, { format: kind })).not.toContain('hunter2');
  }
});

test.each([
  ['enabeld', ['enabled', 'token'], 'enabled'],
  ['max_body_bytes', ['maxBodyBytes', 'mappings'], 'maxBodyBytes'],
  ['mappingDir', ['mappingsDir', 'transformsDir'], 'mappingsDir'],
  ['tokne', ['token', 'to'], 'token'],
  ['zzz', ['token', 'to'], undefined],
  ['x'.repeat(100), ['x'.repeat(99)], undefined],
])('did you mean: %s of %j is %s', (word, candidates, expected) => {
  expect(didYouMean(word, candidates)).toBe(expected);
});

test.each(['\n', '\n\n', '\n\n\n', '', 'a: 1\n', '\r\n'])(
  'the frame numbers its lines as the file does after %j',
  (before) => {
    const text = `${before}id: one\n`;
    const at = { source: { file: 'a.yaml', text }, start: before.length, end: before.length + 2 };
    const printed = formatFindings([{ severity: 'error', code: 'X', message: say`wrong`, at }], {
      format: 'pretty',
    });
    const line = before.split('\n').length;
    expect(printed).toContain(`a.yaml:${line}:1`);
    expect(printed).toContain(`> ${line} | id: one`);
  },
);
