/** Slips of YAML that people make: one finding each, with the text to write; its edit leaves a file that can be read. */
import { expect, test } from 'vitest';
import { advise } from '../../../src/authoring/advice/advice.ts';
import { applyEdits, formatFindings, parseDocument } from '../../../src/base/document/facts.ts';
import { said } from '../../support/said.ts';
import { computingMs, threadMs } from '../../support/thread-time.ts';

const read = (text: string) => {
  const { document, findings } = parseDocument({ file: 'a.yaml', text }, 'yaml');
  return { document, findings: advise(findings) };
};

test.each([
  ['id:a\nmatch: 1\n', 'write id: a', 'id: a\nmatch: 1\n'],
  ['id：a\nmatch: 1\n', 'write id: a', 'id: a\nmatch: 1\n'],
  ["t: 'It's {{x}}'\n", "write t: 'It''s {{x}}'", "t: 'It''s {{x}}'\n"],
  ['t: "The "{{x}}" is"\n', `write t: 'The "{{x}}" is'`, `t: 'The "{{x}}" is'\n`],
  ['t: "Urgent": {{x}}\n', `write t: '"Urgent": {{x}}'`, `t: '"Urgent": {{x}}'\n`],
  ["t: 'x {{y}}\ns: 'z'\n", "write t: 'x {{y}}'", "t: 'x {{y}}'\ns: 'z'\n"],
  ['t: *Deploy* {{x}}\n', "put the whole value in quotes: t: '*Deploy* {{x}}'", "t: '*Deploy* {{x}}'\n"],
  ['match: path: y\n', /; where match has keys and no text, in braces: match: \{ path: y \}$/, undefined],
  ['a: { argv: [x, {{prompt}}] }\n', "put it in quotes: '{{prompt}}'", "a: { argv: [x, '{{prompt}}'] }\n"],
  ['a: { port: ${PORT}, b: 1 }\n', "put it in quotes: '${PORT}'", "a: { port: '${PORT}', b: 1 }\n"],
  ['- id: a\n  b: 1\n   c: x {{y}}\n', /^compare the indentation/, undefined],
  ['id: a\nb: 1\n- id: c\n  b: 2\n', /^compare the indentation/, undefined],
  ['a:\n\tb: 1\n\tc: 2\n', /^replace every tab/, undefined],
])('the text %j is one slip', (text, hint, mended) => {
  const { findings } = read(text);
  expect(findings.map((found) => said(found.hint))).toEqual([
    typeof hint === 'string' ? hint : expect.stringMatching(hint),
  ]);
  if (mended === undefined) return;
  const fixed = applyEdits(
    text,
    findings.flatMap(({ edit }) => (edit === undefined ? [] : [edit])),
  );
  expect([fixed, read(fixed).findings]).toEqual([mended, []]);
});

test.each([
  'm: |\n  ```yaml\n  a: 1\n  ```\n',
  'm: |\n  \u00A0\u00A0Name: {{x}}\n  “x”: ’y’ // z\n',
  '"na\u200Bme": 1\n',
  'body: { "姓名：": x, naïve key: 2 }\n',
  "m: It's “fine” here\n",
  "port: ${PORT}\na: { b: '${PORT}' }\n",
  'u: http://a.example/x\nv: a:b\n',
  'a:\n    b: 1\n    c:\n      - d: 1\n        e: 2\n',
])('the text %j is no slip', (text) => {
  expect(read(text).findings).toEqual([]);
});

test('brackets over several lines are not closed by a guess', () => {
  const { findings } = read('match: {\n  path: a\n  when: b }\n');
  expect(findings.map(({ edit }) => edit)).toEqual([undefined]);
});

test.each(['token', 'PASS', 'privateKey'])('what may be a secret is not repeated (%s)', (key) => {
  const slips = [": 'hunter2's x'\n", ':hunter2\nb: 1\n', ': hunter2 is\n  mine: yes\n', ': @hunter2\n'];
  const broken = slips.map((slip) => key + slip);
  expect(broken.map((text) => formatFindings(read(text).findings)).join('')).not.toContain('hunter2');
});

test.each([
  '- id: a\n\tmatch: {path: x}\n',
  '- match:\n    path: x\n\t\tdeliver: false\n',
  'a:\n  b: 1\n \tc: 2\n',
  'a: {\n\tb: 1\n}\n',
  'a: [\n\tb\n]\n',
])('a tab is called a tab in %j', (text) => {
  expect(read(text).findings.map(({ code }) => code)).toEqual(['YAML_TAB']);
});

test.each(['[', '{', '[{', '- ', '? ', ': ', '["', 'a: ', '- ['])(
  '2 KB of %j are refused at once',
  (unit) => {
    const started = threadMs();
    const codes = read(`- ${unit.repeat(2_000 / unit.length)}\n`).findings.map(({ code }) => code);
    expect(codes).toEqual(['TOO_DEEP']);
    expect(threadMs() - started).toBeLessThan(computingMs(300));
  },
);

test('many signs in one line are not deep where they are side by side', () => {
  const flow = `a: {${Array.from({ length: 300 }, (_, n) => `b${n}: [${n}]`).join(', ')}}\n`;
  const texts = `m: |\n  ${'[{'.repeat(300)}\nq: "${'['.repeat(300)}"\n`;
  for (const text of [flow, texts]) expect(read(text).findings).toEqual([]);
});

/** Least time of two, in milliseconds. */
function timeOf(lines: number): number {
  const text = `a:\n${'  \t- b: 1\n'.repeat(lines)}`;
  const times = [0, 1].map(() => {
    const started = threadMs();
    expect(read(text).findings.map(({ code }) => code)).toEqual(['YAML_TAB']);
    return threadMs() - started;
  });
  return Math.min(...times);
}

test('the time for a file that is broken in every line grows with its lines, not with their square', () => {
  timeOf(500);
  expect(timeOf(8_000) / timeOf(1_000)).toBeLessThan(30);
});

test.each(['? \n', 'a:\n', 'a: b\n', '? a\n'])(
  'the time for the key of %j given again and again grows with the lines, and the first are told',
  (unit) => {
    const timed = (lines: number): number => {
      const before = process.threadCpuUsage();
      const { findings } = read(unit.repeat(lines));
      expect(findings).toHaveLength(50);
      expect(new Set(findings.map(({ code }) => code))).toEqual(new Set(['DUPLICATE_KEY']));
      const { user, system } = process.threadCpuUsage(before);
      return (user + system) / 1000;
    };
    timed(1_000);
    // Eight times the lines; the square would be 64 times the time.
    expect(timed(16_000) / Math.max(timed(2_000), 10)).toBeLessThan(32);
  },
);

test('a key given twice below an anchor is told once, however many aliases repeat it', () => {
  const { findings } = read('a: &x {b: 1, b: 2}\nc: *x\nd: *x\n');
  expect(findings.map(({ code }) => code)).toEqual(['DUPLICATE_KEY']);
});
