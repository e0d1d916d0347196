/* Why a request was answered as it was, in the words of the operator's own files: all there is where it was not kept. */
import { emptyKeyNotes, remedyOf, withoutExplain, type EvaluationNote } from '../hook/hook.ts';
import type { DecisionRecord, MissedMapping } from '../storage/storage.ts';

/** Says why, and what to change. */
export function reasonNotes(decision: DecisionRecord): readonly EvaluationNote[] {
  const { refusal, note, missed = [], empty = [], warnings = [], transformNotes = [] } = decision;
  const remedy = decisionRemedy(decision);
  // What a stranger is told is the same for every refusal.
  const told =
    refusal === undefined && decision.detail !== undefined ? withoutExplain(decision.detail) : undefined;
  return [
    ...optional('detail', told),
    ...optional('decision', note),
    ...optional('remedy', remedy),
    ...optional('refusal', refusal && refusalText(refusal)),
    ...missed.flatMap(missNotes),
    ...empty.map(emptyNote),
    ...emptyKeyNotes(empty.map(({ field }) => field)),
    ...warnings.map((warning): EvaluationNote => ({ code: 'warning', text: warningText(warning) })),
    ...transformNotes.map((text): EvaluationNote => ({ code: 'transform', text })),
  ];
}

const optional = (code: EvaluationNote['code'], text: string | undefined): readonly EvaluationNote[] =>
  text === undefined || text === '' ? [] : [{ code, text }];

/** Where a note is there, it says what to do. */
const NOTED: ReadonlySet<string> = new Set([
  'malformed_request',
  'no_mapping_matched',
  'mapping_requires_message',
  'mapping_requires_text',
]);

/** What to do about a code, unless what is known of the request says more. */
function decisionRemedy({ code, mappingId, missed, note }: DecisionRecord): string | undefined {
  // Where no mapping has the name, the names there are say more.
  const isName = code === 'no_mapping_matched' && missed === undefined;
  // What is known of the bytes says what to do about them.
  const isKnown = isName || (note !== undefined && NOTED.has(code ?? ''));
  return isKnown ? undefined : remedyOf(code, mappingId !== undefined);
}

function refusalText({ scheme, code, text }: NonNullable<DecisionRecord['refusal']>): string {
  const what = code === 'challenge' ? 'challenge' : (PROOFS[scheme] ?? `proof of ${scheme}`);
  return `${what}: ${text}`;
}

const PROOFS: Readonly<Record<string, string>> = { token: 'hook token' };

/** An expression of a template that found nothing. */
function emptyNote({
  field,
  expression,
  place,
  instead,
}: NonNullable<DecisionRecord['empty']>[number]): EvaluationNote {
  return { code: 'rendered_empty', text: `${expression}${insteadText(instead)}`, field, at: place };
}

const insteadText = (instead: string | undefined): string =>
  instead === undefined ? '' : `; the request has ${instead}`;

/** A candidate, and where it failed. */
function missNotes(missed: MissedMapping): readonly EvaluationNote[] {
  const { mappingId, place, how, variable } = missed;
  const about = {
    mapping: { id: mappingId },
    ...(place === undefined ? {} : { at: place }),
    ...(variable === undefined ? {} : { paths: [variable] }),
  };
  return [
    { code: 'not_held', text: missText(missed), ...about },
    ...(how === undefined ? [] : [{ code: 'difference', text: how, ...about } as const]),
  ];
}

function missText({ part, leaf, why, variable = '', instead }: MissedMapping): string {
  if (leaf === undefined) return `${part} did not hold`;
  if (part !== 'when') {
    const found = why === 'missing' ? 'and the request had none' : 'and the request had another';
    return `${part} must be ${JSON.stringify(leaf)}, ${found}`;
  }
  const what = why === 'missing' ? `${variable} was not sent${insteadText(instead)}` : '';
  return `when ${leaf} ${WHY[why ?? 'different']}${what}`;
}

const WHY = {
  missing: 'did not hold: ',
  unknown: 'could not be judged',
  different: 'did not hold: another value was sent',
} as const;

/** What a warning of a decision means; its own sentence is only in a kept request. */
const WARNINGS: Readonly<Record<string, string>> = {
  blank_dedupe_key: 'the dedupe key was blank, so a repeat of this request is not recognised',
  class_instance: 'the transform returned an instance of a class; return a plain object',
  helper_argument:
    'a helper or block of a template got what is of no use to it; "sluice explain" of a kept request says which',
  invalid_date:
    'the transform wrote "Invalid Date": new Date got what is no time; for a number of seconds write new Date(seconds * 1000)',
  joined_numbers:
    'the transform joined numbers that are texts in place of adding them: write Number(…) around each',
  json_text:
    'a field that the template reads into is a text that holds JSON, so what rendered empty was not found in it: let the sender send an object, or read the text in a transform with JSON.parse',
  nan_as_text:
    'the transform wrote "NaN": something that is no number was part of a calculation; a text with a number in it needs Number(…)',
  object_as_text:
    'the transform wrote "[object Object]": an object was put into a text; name one of its fields, or write JSON.stringify(…)',
  printed_json:
    'the template printed a list of objects, or an object, as JSON: name the field to print, such as {{join items ", " "name"}} or {{user.name}}, or write {{json items}} where JSON is meant; "sluice explain" of a kept request says which',
  promise_as_text:
    'the transform wrote "[object Promise]": write await before the call, and for a list await Promise.all(list.map(…))',
  repeated_list:
    'forEach calls the transform once for each element, and each call returned the same list, so there are too many actions; remove forEach, or return one object for item: ({ item }) => …',
  rounded_number:
    "the transform returned a number of the body with its last digits rounded, so two of them may look the same; write exact(payload, 'id') with the name of that field, and exact from the argument: ({ payload, exact }) => …",
  seconds_as_milliseconds:
    'the transform made a date of January 1970 from a number of seconds; JavaScript counts milliseconds: write new Date(seconds * 1000)',
  undefined_as_text:
    'the transform wrote "undefined": a field that it put into a text is not there; the body is payload of its one argument, ({ payload }) => …',
};

const warningText = (warning: string): string =>
  `${warning}${Object.hasOwn(WARNINGS, warning) ? `: ${WARNINGS[warning]}` : ''}`;
