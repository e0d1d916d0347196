/** `date` writes UTC: explain says so once, where a zone would make another text. */
import { expect, test } from 'vitest';
import { adviceFor } from '../../src/advice/requests.ts';
import { createHookRequest } from '../../src/hook/hook.ts';
import type { JsonValue } from '../../src/json.ts';
import { evaluateHook, receivedAt, settingsWith } from '../support/hook-fixture.ts';

function notesOn(template: string, payload: JsonValue): readonly string[] {
  const table = JSON.stringify([{ id: 'm', match: { path: 'h' }, messageTemplate: template }]);
  const settings = settingsWith({ table });
  const request = createHookRequest({ path: 'h', payload, receivedAt });
  const { evaluation } = evaluateHook({ payload }, settings);
  return adviceFor(evaluation, request, settings.table).notes.map(({ text }) => text);
}

const AT = {
  at: 1_772_463_720,
  late: '2026-03-02T23:10:00Z',
  day: '2026-03-02',
  due: '2026-03-02T23:59:59Z',
  list: [{ at: 1_772_463_720 }],
};

test.each<[string, string]>([
  ['{{date at "dd.MM.yyyy HH:mm"}}', '{{date at "dd.MM.yyyy HH:mm" tz="Europe/Berlin"}}'],
  ["on {{date payload.late 'HH:mm'}} o'clock", '{{date payload.late \'HH:mm\' tz="Europe/Berlin"}}'],
  ['{{date late "yyyy-MM-dd"}}', '{{date late "yyyy-MM-dd" tz="Europe/Berlin"}}'],
  ['{{#each list}}{{date at "HH:mm"}}{{/each}}', '{{date at "HH:mm" tz="Europe/Berlin"}}'],
  ['{{date now "HH:mm"}} {{date at "HH:mm"}}', '{{date now "HH:mm" tz="Europe/Berlin"}}'],
])('%s is told once of the zone', (template, written) => {
  const told = 'dates without tz are written in UTC; for the time of another zone write ';
  expect(notesOn(template, AT)).toEqual([`${told}${written}`]);
});

test.each([
  '{{date at "HH:mm" tz="Asia/Tokyo"}}',
  '{{date at "HH:mm" tz="UTC"}}',
  '{{date at "HH:mm UTC"}}',
  '{{date at "HH:mm"}} (UTC)',
  '{{date at "yyyy-MM-dd"}}',
  '{{date day "dd.MM.yyyy HH:mm"}}',
  '{{date due "yyyy-MM-dd"}}',
  '{{date at}}',
  'the date at "HH:mm"',
])('%s is not', (template) => {
  expect(notesOn(template, AT)).toEqual([]);
});
