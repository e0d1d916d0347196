import { expect, test } from 'vitest';
import { parseDocument } from '../../../src/base/document/facts.ts';
import { parseWithin } from '../../../src/base/document/read-document.ts';
import { printSentence } from '../../../src/base/finding.ts';
import { computingMs, threadMs } from '../../support/thread-time.ts';

const LONG = 40_000;

test.each([
  [
    'numbers, texts and aliases',
    `a: &a {n: 12345678901234567890, t: "x\\ty"}\nb: *a\n${'# x\n'.repeat(LONG / 4)}`,
  ],
  ['keys given twice', 'a: 1\n'.repeat(LONG / 5)],
  ['a quote without an end', `a: "b\n${'c: d\n'.repeat(LONG / 5)}`],
])('a large file reads as a small one does: %s', async (_name, text) => {
  const source = { file: 'x.yaml', text };
  const [apart, here] = [await parseWithin(source, 'yaml'), parseDocument(source, 'yaml')];
  const said = ({ findings }: typeof here): unknown =>
    findings.map(({ code, message, at, labels = [] }) => [
      code,
      printSentence(message),
      [at, ...labels.map((label) => label.at)].map((place) => [place?.start, place?.end]),
    ]);
  expect(said(apart)).toEqual(said(here));
  expect(apart.document?.root.value).toEqual(here.document?.root.value);
  for (const path of [['a'], ['b', 'n'], ['b', 't']]) {
    expect(apart.document?.root.exact(path)).toEqual(here.document?.root.exact(path));
    expect(apart.document?.root.scalarOffset(path, 1)).toBe(here.document?.root.scalarOffset(path, 1));
  }
});

test('a text that takes the parser minutes is a finding, and nobody waits for it', async () => {
  const text = `- [${'a,'.repeat(500_000)}`;
  const limits = { cpuMs: 300, memoryMb: 512 };
  const before = threadMs();
  const { document, findings } = await parseWithin({ file: 'x.yaml', text }, 'yaml', limits);
  expect(document).toBeUndefined();
  expect(findings.map(({ code }) => code)).toEqual(['TOO_MANY_PARTS']);
  // What this thread did meanwhile: the parser takes minutes of another one.
  expect(threadMs() - before).toBeLessThan(computingMs(300));
});
