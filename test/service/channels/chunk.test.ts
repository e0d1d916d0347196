import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chunkText, cutText } from '../../../src/service/channels/chunk.ts';
import { CODE_POINT } from '../../support/code-point.ts';
import { computingMs, threadMs } from '../../support/thread-time.ts';

fc.configureGlobal({ seed: 20261120, numRuns: 200 });

const FAMILY = '👨‍👩‍👧‍👦';
const fragment = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.lorem({ maxCount: 12, mode: 'sentences' }),
  fc.string({ unit: CODE_POINT, maxLength: 20 }),
  fc.constantFrom(
    '\n',
    '\n\n',
    '\r\n',
    '```ts\n',
    '\n```\n',
    '~~~\n',
    '\n~~~~\n',
    '    indented',
    FAMILY,
    '🇩🇪🇫🇷🇯🇵',
    'e\u0301\u0301\u0301',
    ' \u0301',
    '\ud83d',
    '\udc68',
    '这是一个句子。这是另一个句子！',
    'x'.repeat(90),
    ' '.repeat(90),
  ),
);
const texts = fc.array(fragment, { maxLength: 30, size: 'max' }).map((parts) => parts.join(''));
const limits = fc.oneof(fc.integer({ min: 2, max: 60 }), fc.integer({ min: 60, max: 300 }));

function graphemeStarts(text: string): Set<number> {
  const starts = new Set([0, text.length]);
  for (const { index } of new Intl.Segmenter('und').segment(text)) starts.add(index);
  return starts;
}

/** Length of the grapheme of the whole text that a position lies in. */
function graphemeLengthAt(starts: Set<number>, at: number): number {
  let from = at;
  let to = at + 1;
  while (!starts.has(from)) from -= 1;
  while (!starts.has(to)) to += 1;
  return to - from;
}

describe('chunks of any text', () => {
  test('are never longer than the limit and never blank', () => {
    fc.assert(
      fc.property(texts, limits, (text, limit) => {
        for (const chunk of chunkText(text, limit)) {
          expect(chunk.length).toBeLessThanOrEqual(limit);
          expect(chunk.trim()).not.toBe('');
        }
      }),
    );
  });

  test('lose nothing but the white space at a cut', () => {
    fc.assert(
      fc.property(texts, limits, (text, limit) => {
        let reached = 0;
        for (const piece of cutText(text, limit)) {
          expect(piece.end).toBeGreaterThan(piece.start);
          expect(text.slice(reached, piece.start).trim()).toBe('');
          reached = piece.end;
        }
        expect(text.slice(reached).trim()).toBe('');
      }),
    );
  });

  test('end at grapheme boundaries unless one grapheme is longer than a message', () => {
    fc.assert(
      fc.property(texts, limits, (text, limit) => {
        const starts = graphemeStarts(text);
        for (const piece of cutText(text, limit)) {
          for (const at of [piece.start, piece.end]) {
            if (!starts.has(at)) expect(graphemeLengthAt(starts, at)).toBeGreaterThan(limit / 2 - 1);
            const pair = text.slice(at - 1, at + 1);
            expect(at > 0 && pair.length === 2 && pair.codePointAt(0)! > 0xffff).toBe(false);
          }
        }
      }),
    );
  });

  test('add only fences, each closed fence being opened again in the next chunk', () => {
    fc.assert(
      fc.property(texts, limits, (text, limit) => {
        const pieces = cutText(text, limit);
        pieces.forEach((piece, index) => {
          expect(piece.open).toMatch(/^((`{3,}|~{3,})\S{0,32}\n)?$/);
          expect(piece.close).toMatch(/^(\n {0,3}(`{3,}|~{3,}))?$/);
          const next = pieces[index + 1];
          if (next) expect(next.open === '').toBe(piece.close === '');
        });
        expect(pieces[0]?.open ?? '').toBe('');
      }),
    );
  });

  test('are the text itself where it fits', () => {
    fc.assert(
      fc.property(texts, (text) => {
        fc.pre(text.trim() !== '');
        expect(chunkText(text, text.length + 2)).toEqual([text]);
      }),
    );
  });
});

describe('a cut is made', () => {
  test('between paragraphs rather than lines', () => {
    expect(chunkText('aaaaa\n\nbbbb\ncccc dddd', 15)).toEqual(['aaaaa', 'bbbb\ncccc dddd']);
  });
  test('between lines rather than sentences, keeping the indentation of the next line', () => {
    expect(chunkText('one. two\n  three four five', 20)).toEqual(['one. two', '  three four five']);
  });
  test('between sentences rather than words', () => {
    expect(chunkText('First one. Second is long', 18)).toEqual(['First one.', 'Second is long']);
    expect(chunkText('这是一个句子。这是另一个句子', 10)).toEqual(['这是一个句子。', '这是另一个句子']);
  });
  test('between words rather than graphemes', () => {
    expect(chunkText('alpha beta gamma', 12)).toEqual(['alpha beta', 'gamma']);
  });
  test('between graphemes where a word is longer than a message', () => {
    expect(chunkText('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
    expect(chunkText(FAMILY.repeat(3), 25)).toEqual([FAMILY.repeat(2), FAMILY]);
    expect(chunkText('🇩🇪🇫🇷🇯🇵', 6)).toEqual(['🇩🇪', '🇫🇷', '🇯🇵']);
  });
  test('not at white space that is part of a grapheme', () => {
    expect(chunkText('aaaa\u0600 bbbb', 6)).toEqual(['aaaa\u0600 ', 'bbbb']);
    expect(chunkText('aaaa \u0301bbbb', 6)).toEqual(['aaaa \u0301', 'bbbb']);
  });
  test('between code points where a grapheme is longer than a message', () => {
    const chunks = chunkText(FAMILY, 4);
    expect(chunks.join('')).toBe(FAMILY);
    for (const chunk of chunks) expect(chunk).not.toMatch(/[\ud800-\udbff]$/);
  });
});

describe('a code block longer than a message', () => {
  test('is closed and opened again with its language', () => {
    const code = Array.from({ length: 9 }, (_, line) => `  line ${line}`).join('\n');
    const chunks = chunkText(`Look:\n\n\`\`\`ts title="x"\n${code}\n\`\`\`\ndone`, 60);
    expect(chunks).toEqual([
      'Look:\n\n```ts title="x"\n  line 0\n  line 1\n  line 2\n```',
      '```ts\n  line 3\n  line 4\n  line 5\n  line 6\n  line 7\n```',
      '```ts\n  line 8\n```\ndone',
    ]);
  });
  test('is cut inside a word only where the word is longer than a message', () => {
    expect(chunkText(`\`\`\`\n${'x'.repeat(40)}\n\`\`\`\nend`, 24)).toEqual([
      `\`\`\`\n${'x'.repeat(16)}\n\`\`\``,
      `\`\`\`\n${'x'.repeat(16)}\n\`\`\``,
      `\`\`\`\n${'x'.repeat(8)}\n\`\`\`\nend`,
    ]);
  });
  test('stays whole where it fits into the next message', () => {
    expect(chunkText('Some words before the code\n```\na\nb\n```\nAfter', 40)).toEqual([
      'Some words before the code\n```\na\nb\n```',
      'After',
    ]);
  });
});

test('300,000 characters of hostile text are cut in linear time', () => {
  const many = 300_000;
  const hostile = [
    'x'.repeat(many),
    ' '.repeat(many),
    `a${' '.repeat(many)}b`,
    '\n'.repeat(many),
    'a\n\n'.repeat(many / 3),
    '`'.repeat(many),
    '```\n'.repeat(many / 4),
    '```ts\nx\n'.repeat(many / 8),
    `\`\`\`\n${'y'.repeat(many)}`,
    `e${'\u0301'.repeat(many)}`,
    FAMILY.repeat(many / FAMILY.length),
    '\ud83d'.repeat(many),
    '。'.repeat(many),
    `${'a '.repeat(50)}${'b'.repeat(1900)}`.repeat(150),
  ];
  for (const text of hostile) {
    const before = threadMs();
    chunkText(text, 2000);
    expect(threadMs() - before).toBeLessThan(computingMs(750));
  }
});
