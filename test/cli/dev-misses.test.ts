/** The log of `sluice dev` has the nearest miss whole, with its advice, in lines that fit. */
import { expect, test } from 'vitest';
import { whyLines } from '../../src/cli/dev-misses.ts';
import { createHookRequest } from '../../src/hook/hook.ts';
import type { JsonValue } from '../../src/request.ts';
import { evaluateHook, receivedAt, settingsWith } from '../support/hook-fixture.ts';

const COLUMNS = 60;
const explain = 'npx sluice explain ID';

function linesOf(when: unknown, payload: JsonValue): readonly string[] {
  const settings = settingsWith({
    table: JSON.stringify([{ id: 'm', match: { path: 'p', when }, messageTemplate: 'x' }]),
  });
  const request = createHookRequest({ path: 'p', payload, receivedAt });
  const { evaluation } = evaluateHook({ path: 'p', payload }, settings);
  const seen = { request, evaluation, status: 404, generation: 'g', tookMs: 1 };
  return whyLines(seen, { explain, table: settings.table, columns: COLUMNS, told: new Set() });
}

test('a miss is followed by its advice, and only a rule is longer than a line', () => {
  expect(linesOf({ '===': [{ var: 'created' }, '1767225600'] }, { created: 1767225600 })).toEqual([
    '  ✗ m: when {"===":[{"var":"created"},"1767225600"]} is',
    '      false: found 1767225600, expected "1767225600"',
    '      mappings.yaml:1:39',
    '      created is the number 1767225600, and the text',
    '      "1767225600" is never equal to it: take the quotes',
    '      off, write {"===":[{"var":"created"},1767225600]}',
    `  why: ${explain}`,
  ]);
});

test('what a request is stands in place of the condition that it misses', () => {
  const payload = { event: 'endpoint.url_validation', payload: { plainToken: 'a' } };
  const lines = linesOf({ '===': [{ var: 'event' }, 'meeting.ended'] }, payload);
  expect(lines[0]).toMatch(/^ {2}note this is how Zoom checks the address/);
  expect(lines.filter((line) => line.startsWith('  note '))).toHaveLength(1);
  expect(lines.join()).not.toContain('✗');
});

test('each of many alternatives is told, up to a limit that names the command', () => {
  const or = Array.from({ length: 5 }, (_, at) => ({
    '===': [{ var: `field_${at}` }, `${'wanted '.repeat(20)}${at}`],
  }));
  const payload = Object.fromEntries(or.map((_, at) => [`field_${at}`, `${'found '.repeat(25)}${at}`]));
  const lines = linesOf({ or }, payload);
  expect(lines.length).toBeLessThanOrEqual(24);
  expect(lines.at(-1)).toBe(`      …; ${explain} tells all`);
});

test('a warning that comes again is told in short', () => {
  const settings = settingsWith({
    table: '- {id: m, match: {path: p}, dedupe: {key: "{{id}}"}, messageTemplate: "{{text}}"}',
  });
  const log = { explain, table: settings.table, columns: COLUMNS, told: new Set<string>() };
  const [first, again] = ['a', 'b'].map((text) => {
    const request = createHookRequest({ path: 'p', payload: { text }, receivedAt });
    const { evaluation } = evaluateHook({ path: 'p', payload: { text } }, settings);
    expect(evaluation.warnings.map(({ code }) => code)).toEqual(['blank_dedupe_key']);
    return whyLines({ request, evaluation, status: 202, generation: 'g', tookMs: 1 }, log);
  });
  expect(first?.filter((line) => line.startsWith('  ! ')).join()).not.toContain('as above');
  expect(again).toContain('  ! blank_dedupe_key, as above');
});

test('a later mapping that would have taken it, too, is told once', () => {
  const settings = settingsWith({
    table: `- {id: issue, match: {path: p, when: {"!!": {var: issue}}}, messageTemplate: x}
- {id: comment, match: {path: p, when: {"!!": {var: comment}}}, messageTemplate: x}
- {id: rest, match: {path: p}, messageTemplate: x}`,
  });
  const log = { explain, table: settings.table, columns: 200, told: new Set<string>() };
  const linesFor = (payload: JsonValue): readonly string[] => {
    const request = createHookRequest({ path: 'p', payload, receivedAt });
    const { evaluation } = evaluateHook({ path: 'p', payload }, settings);
    return whyLines({ request, evaluation, status: 202, generation: 'g', tookMs: 1 }, log);
  };
  expect(linesFor({ issue: 1 })).toEqual([]);
  expect(linesFor({ issue: 1, comment: 2 })).toEqual([
    '  note comment would have taken it, too, but stands behind issue, and only the first mapping that matches acts: if it should take such requests, move comment (mappings.yaml:2:3) before issue',
    '       (mappings.yaml:1:3)',
    `  why: ${explain}`,
  ]);
  expect(linesFor({ issue: 1, comment: 2 })).toEqual([]);
});
