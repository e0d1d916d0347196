import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAcknowledgement } from '../../../src/service/runners/acknowledgement.ts';
import { computingMs, threadMs } from '../../support/thread-time.ts';

describe('is only an acknowledgement', () => {
  test.each([
    'HEARTBEAT_OK',
    ' HEARTBEAT_OK\n',
    'HEARTBEAT_OK.',
    '**HEARTBEAT_OK**',
    '<b>HEARTBEAT_OK</b>',
    '<p class="x">HEARTBEAT_OK</p>',
    '`HEARTBEAT_OK`',
    '```\nHEARTBEAT_OK\n```',
    '# HEARTBEAT_OK',
    '> HEARTBEAT_OK',
    '- HEARTBEAT_OK',
    '~~HEARTBEAT_OK~~',
    'HEARTBEAT\\_OK',
    '&nbsp;HEARTBEAT_OK&#160;',
    '“HEARTBEAT_OK”',
    '(HEARTBEAT_OK)!',
    '\u200bHEARTBEAT_OK\ufeff',
    'HEARTBEAT_OK HEARTBEAT_OK',
    'NO_REPLY',
    '<!-- HEARTBEAT --> HEARTBEAT_OK',
  ])('the reply %j says only that there is nothing to do', (reply) =>
    expect(isAcknowledgement(reply)).toBe(true),
  );
});

describe('is a reply', () => {
  test.each([
    '',
    '   ',
    '**',
    'OK',
    'heartbeat_ok',
    'HEARTBEAT OK',
    'HEARTBEAT_OKAY',
    'HEARTBEAT_OK 👍',
    '✅ HEARTBEAT_OK',
    'HEARTBEAT_OK 1',
    'HEARTBEAT_OK — but the disk is full',
    'The disk is full. HEARTBEAT_OK',
    'Everything is fine: HEARTBEAT_OK',
    'HEARTBEAT_OK €5',
    'HEARTBEAT_OK &lt;b>x',
    '好 HEARTBEAT_OK',
  ])('the reply %j says more', (reply) => expect(isAcknowledgement(reply)).toBe(false));

  test('whatever letter or digit stands beside the token', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 30 }),
        fc.stringMatching(/^[a-zà-ÿ0-9]$/),
        (around, letter) => {
          const noMarkup = around.replace(/[<&]/gu, '');
          return !isAcknowledgement(`${noMarkup} HEARTBEAT_OK ${letter}${noMarkup}`);
        },
      ),
      { seed: 5, numRuns: 200 },
    );
  });
});

test('a long reply is judged in time that grows with its length only', () => {
  const startedAt = threadMs();
  for (const unit of ['<a', '<!', '&#', '&a', '<a &', 'HEARTBEAT_', '\\_'])
    isAcknowledgement(unit.repeat(300_000));
  expect(threadMs() - startedAt).toBeLessThan(computingMs(2_000));
});
