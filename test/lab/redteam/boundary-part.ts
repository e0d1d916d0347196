import { buildAgentPrompt, NeutralisedTexts } from '../../../src/base/boundary/boundary.ts';
import { threadMs } from '../../support/thread-time.ts';
import type { Part, Row } from '../../support/parts.ts';

/** Texts that give the boundary the most to do for each character: folding, entities, words of markers, tokens. */
const UNITS = [
  'x',
  '<',
  '<<<',
  '≮',
  'ﷺ',
  'é',
  '\u0301',
  '&lt;',
  '&amp;',
  '&#x3c;',
  '&',
  '<<<END_EXTERNAL_CONTENT',
  'END_EXTERNAL_CONTENT\n',
  '[[[EXTERNAL CONTENT]]]\n',
  '<|im_start|>',
  '[|system|]',
  '<extra_id_1>',
  '\u200b<',
  '\u001b[0m<',
  '\u001b[0000000000<',
  '\ud800<',
  '\u2800<',
  '\n',
  '\r\n ',
];
const MEGABYTE = 1_000_000;
const ROUNDS = 7;
/** Less than this is mostly the machine's own noise. */
const FLOOR_MS = 10;
const MAX_MS = 1_000;
/** Four times the text may take four times as long; more than this is no line any more. */
const MAX_GROWTH = 7;

/** One megabyte of the worst characters, and whether time grows with the length and no faster. */
export const boundaryPart: Part = {
  name: 'boundary',
  run: () => {
    const rows = UNITS.map((unit): Row => {
      const quarter = fastest(unit, MEGABYTE / 4);
      const whole = fastest(unit, MEGABYTE);
      const growth = whole / Math.max(quarter, FLOOR_MS);
      return {
        what: `1 MB of ${JSON.stringify(unit)}`,
        figure: `${whole.toFixed(0)} ms, ${growth.toFixed(1)} times a quarter of it`,
        aim: {
          text: `under ${MAX_MS} ms and ${MAX_GROWTH} times`,
          met: whole < MAX_MS && growth < MAX_GROWTH,
        },
      };
    });
    return Promise.resolve(rows);
  },
};

function fastest(unit: string, bytes: number): number {
  const message = unit.repeat(Math.ceil(bytes / Buffer.byteLength(unit)));
  const origin = { requestId: 'r', path: 'h', trusted: false };
  const times = Array.from({ length: ROUNDS }, () => {
    const begun = threadMs();
    buildAgentPrompt({ message, origin, nonce: '0123456789abcdef', texts: new NeutralisedTexts() });
    return threadMs() - begun;
  });
  return Math.min(...times);
}
