import type { AdviceNote } from './evaluation-advice.ts';
import type { Evaluation } from '../../hook/hook.ts';
import { fieldAt, isNumeric, type JsonValue } from '../../json.ts';
import type { HookRequest } from '../../request.ts';

type Rendered = Evaluation['trace']['templates'][number];

/** Says once that `date` writes UTC, where a template prints a time of this request without a zone. */
export function zoneNotes({ trace }: Evaluation, request: HookRequest): readonly AdviceNote[] {
  for (const rendered of trace.templates) {
    const call = findCall(rendered, request);
    if (call === undefined) continue;
    const text = `dates without tz are written in UTC; for the time of another zone write ${call.written}`;
    return [{ code: 'dates_in_utc', text, names: call.names, at: rendered.at }];
  }
  return transformZone(trace);
}

/** What `toLocaleString()` and `String(date)` write where nobody names a place: American, and UTC. */
const LOCAL_FORM =
  /\b\d{1,2}\/\d{1,2}\/\d{4}, \d{1,2}:\d\d:\d\d\s[AP]M|\b[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d{4} \d\d:\d\d:\d\d GMT\+0000 \([^()]{1,60}\)/;
/** Letters of a result that are looked at. */
const MAX_RESULT = 20_000;

function transformZone({ transforms }: Evaluation['trace']): readonly AdviceNote[] {
  for (const { reply, at } of transforms) {
    const json = reply.kind === 'ok' ? (reply.json ?? '') : '';
    const [found] = LOCAL_FORM.exec(json.slice(0, MAX_RESULT)) ?? [];
    if (found === undefined) continue;
    const text = `the transform wrote "${found}", which is UTC: a transform knows no other place. Name yours: date.toLocaleString('de-DE', { timeZone: 'Europe/Berlin' })`;
    return [{ code: 'dates_in_utc', text, names: [], at }];
  }
  return [];
}

/** `{{date value "format"}}` or `(date value "format")`, with nothing behind the format. */
const CALL =
  /(?:\{\{\{?~?\s{0,20}|\()date\s{1,20}([^{}"']{1,200}?)\s{1,20}(?:"([^"{}]{1,100})"|'([^'{}]{1,100})')\s{0,20}(?=\)|~?\}\})/g;
const NAMED_ZONE = /UTC|GMT|Z/;

interface DateCall {
  readonly written: string;
  readonly names: readonly string[];
}

function findCall({ source, empty }: Rendered, request: HookRequest): DateCall | undefined {
  const template = source?.template.source ?? '';
  for (const call of template.matchAll(CALL)) {
    const [whole, value = '', double, format = double ?? ''] = call;
    const behind = template.slice(call.index + whole.length).replace(/^[)}~\s(]{1,20}/, '');
    const saysZone = NAMED_ZONE.test(format) || /^(?:UTC|GMT|Z)\b/.test(behind);
    const isEmpty = empty.some(({ expression }) => expression.includes(value));
    if (saysZone || isEmpty || !zoneMatters(format, valueOf(value, request))) continue;
    const quoted = double === undefined ? `'${format}'` : `"${format}"`;
    return {
      written: `{{date ${value} ${quoted} tz="Europe/Berlin"}}`,
      names: /^[\w.-]+$/.test(value) ? [value] : [],
    };
  }
  return undefined;
}

/** What a plain path reads; undefined where it is not known here. */
function valueOf(path: string, { payload, receivedAt }: HookRequest): JsonValue | undefined {
  if (path === 'now') return receivedAt;
  return fieldAt(payload, path.replace(/^payload\./, '').split('.'));
}

/** Hours around midnight, in UTC, in which it is another day not far away. */
const NEAR_MIDNIGHT = 4;
const TIME_OF_DAY = /HH|mm|ss/;

/** Whether the text would be another one elsewhere: the format has a time of day, or the day is about to change. */
function zoneMatters(format: string, value: JsonValue | undefined): boolean {
  if (value === undefined) return TIME_OF_DAY.test(format);
  const time = timeOf(value);
  if (time === undefined || Number.isNaN(time.getTime())) return false;
  const hour = time.getUTCHours();
  // The ends of a day stand for the day itself.
  const isWholeDay = /T(?:00:00:00|23:59)/.test(time.toISOString());
  return TIME_OF_DAY.test(format) || (!isWholeDay && (hour < NEAR_MIDNIGHT || hour >= 24 - NEAR_MIDNIGHT));
}

/** Numbers below are seconds, as the helper reads them. */
const FIRST_MILLISECONDS = 100_000_000_000;

/** A value with a time of day; undefined for a day alone and for what is no time. */
function timeOf(value: JsonValue): Date | undefined {
  const number = isNumeric(value) ? Number(value) : undefined;
  if (number !== undefined) return new Date(Math.abs(number) < FIRST_MILLISECONDS ? number * 1_000 : number);
  return typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]\d/.test(value) ? new Date(value) : undefined;
}
