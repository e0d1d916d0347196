/** The log of `sluice dev` has the nearest miss whole, with its advice, in lines that fit. */
import { expect, test } from 'vitest';
import {
  formatDecisionLine,
  formatRefusalLine,
  whyLines,
} from '../../../src/frontends/cli/running/decision-line.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import type { JsonValue } from '../../../src/base/request.ts';
import { evaluateHook, receivedAt, settingsWith } from '../../support/hook-fixture.ts';

const COLUMNS = 60;
const explain = 'npx sluice explain ID';

function linesOf(when: unknown, payload: JsonValue): readonly string[] {
  const settings = settingsWith({
    table: JSON.stringify([{ id: 'm', match: { path: 'p', when }, messageTemplate: 'x' }]),
  });
  const request = createHookRequest({ path: 'p', payload, receivedAt });
  const { evaluation } = evaluateHook({ path: 'p', payload }, settings);
  const seen = { request, evaluation, status: 404, generation: 'g', tookMs: 1 };
  return whyLines(seen, { explain, table: settings.table, columns: COLUMNS, printed: new Set() });
}

test('a miss is followed by what to write, as the line of the file', () => {
  expect(linesOf({ '===': [{ var: 'created' }, '1767225600'] }, { created: 1767225600 })).toEqual([
    '  ✗ m: when {"===":[{"var":"created"},"1767225600"]} is',
    '    false: found 1767225600, expected "1767225600"',
    '    mappings.yaml:1:39',
    '  hint: write (mappings.yaml:1:39):',
    '      [{"id":"m","match":{"path":"p","when":{"===":[{"var":"created"},1767225600]}},"messageTemplate":"x"}]',
    '    a number was sent, and a text is asked for, which is',
    '    never equal to it',
    `  more: ${explain}`,
  ]);
});

test('what a request is stands in place of the condition that it misses', () => {
  const payload = { event: 'endpoint.url_validation', payload: { plainToken: 'a' } };
  const lines = linesOf({ '===': [{ var: 'event' }, 'meeting.ended'] }, payload);
  expect(lines[0]).toMatch(/^ {2}hint: write in a mapping of this path/);
  expect(lines[1]).toBe('      challenge: zoom');
  expect(lines.filter((line) => line.startsWith('  hint: '))).toHaveLength(1);
  expect(lines.join()).not.toContain('✗');
});

test('no line of the log begins with what a request or its transform says', () => {
  const hostile = 'a\n17:00:00  202  /b\r\u2028\u0085c\n\u001b[2Kd';
  const settings = settingsWith({ table: '- {id: m, match: {path: p}, messageTemplate: "{{text}}"}' });
  const request = createHookRequest({ path: hostile, payload: { text: hostile }, receivedAt });
  const { evaluation } = evaluateHook({ path: 'p', payload: { text: hostile } }, settings);
  const failed = { kind: 'failed', failure: 'user-error', message: hostile, stack: `Error: ${hostile}` };
  const call = { reply: { ...failed, logs: [{ level: 'log', text: hostile }] }, problem: hostile };
  const transforms = [call] as unknown as typeof evaluation.trace.transforms;
  const seen = {
    request,
    evaluation: { ...evaluation, trace: { ...evaluation.trace, transforms } },
    status: 500,
  };
  const line = formatDecisionLine(
    { ...seen, generation: 'g', tookMs: 1 },
    { color: false, explain, table: settings.table, columns: COLUMNS, printed: new Set() },
  );
  expect(line).not.toMatch(/(?!\n)\p{Cc}|\u2028/u);
  const [, ...rest] = line.split('\n');
  for (const each of rest) expect(each).toMatch(/^ {2}(?:more: |\| |! |hint: |[✗✓] | {2})/);
  expect(rest.filter((each) => /^ {2,}(?:17:00|c|d)/.test(each))).toEqual([]);
});

test('of many alternatives no more than two hints are printed', () => {
  const or = Array.from({ length: 5 }, (_, at) => ({
    '===': [{ var: `field_${at}` }, `${'wanted '.repeat(20)}${at}`],
  }));
  const payload = Object.fromEntries(or.map((_, at) => [`field_${at}`, `${'found '.repeat(25)}${at}`]));
  const lines = linesOf({ or }, payload);
  expect(lines.length).toBeLessThanOrEqual(24);
  expect(lines.filter((line) => line.startsWith('  hint: ')).length).toBeLessThanOrEqual(2);
  expect(lines.at(-1)).toBe(`  more: ${explain}`);
});

test('a warning that comes again is printed in short', () => {
  const settings = settingsWith({
    table: '- {id: m, match: {path: p}, dedupe: {key: "{{id}}"}, messageTemplate: "{{text}}"}',
  });
  const log = { explain, table: settings.table, columns: COLUMNS, printed: new Set<string>() };
  const [first, again] = ['a', 'b'].map((text) => {
    const request = createHookRequest({ path: 'p', payload: { text }, receivedAt });
    const { evaluation } = evaluateHook({ path: 'p', payload: { text } }, settings);
    expect(evaluation.warnings.map(({ code }) => code)).toEqual(['blank_dedupe_key']);
    return whyLines({ request, evaluation, status: 202, generation: 'g', tookMs: 1 }, log);
  });
  expect(first?.filter((line) => line.startsWith('  hint: ')).join()).not.toContain('as above');
  expect(again).toContain('  hint: blank_dedupe_key, as above');
});

test('of a request that a mapping took, nothing is said of a later mapping that would have taken it, too', () => {
  const settings = settingsWith({
    table: `- {id: issue, match: {path: p, when: {"!!": {var: issue}}}, messageTemplate: x}
- {id: comment, match: {path: p, when: {"!!": {var: comment}}}, messageTemplate: x}
- {id: rest, match: {path: p}, messageTemplate: x}`,
  });
  const log = { explain, table: settings.table, columns: 200, printed: new Set<string>() };
  const linesFor = (payload: JsonValue): readonly string[] => {
    const request = createHookRequest({ path: 'p', payload, receivedAt });
    const { evaluation } = evaluateHook({ path: 'p', payload }, settings);
    return whyLines({ request, evaluation, status: 202, generation: 'g', tookMs: 1 }, log);
  };
  expect(linesFor({ issue: 1 })).toEqual([]);
  expect(linesFor({ issue: 1, comment: 2 })).toEqual([]);
});

test('a name that no mapping takes has one hint', () => {
  const fields = { requestId: 'r', status: 404, hook: 'ordr', code: 'no_mapping_matched', tookMs: 1 };
  const why = 'no mapping takes this hook name; the hook name order is spelt nearly so';
  const shown = { color: false, columns: 90, explain: (id: string) => `explain ${id}` };
  const hints = ['✗ no mapping has the hook name "ordr"', 'hint: order is spelt nearly so'];
  const withHints = formatRefusalLine({ ...fields, why }, { ...shown, hints });
  expect(withHints.match(/hint: /g)).toHaveLength(1);
  expect(formatRefusalLine({ ...fields, why }, shown)).toContain('hint: no mapping takes');
});
