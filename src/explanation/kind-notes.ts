/* Requests of several kinds that one mapping took, where nothing in it reads of which kind they are. */
import { kindHeaders, likeliestKind, OF_A_KIND, OF_A_SORT, writtenIn } from '../advice/requests.ts';
import { fieldAt } from '../json.ts';
import { conjunctsOf, type CompiledMapping } from '../mapping/mapping.ts';
import { compareBodies, note, type Judged } from './compared-requests.ts';
import type { SettingNote } from './setting-notes.ts';

/** What is the name of a person or a thing, though it may be one short word. */
const OF_A_NAME =
  /(?:name|login|user|author|actor|owner|sender|by|from|to|host|branch|ref|repo|project|city|country|lang\w*|locale|currency|title|subject|text|message|body|tag|label|slug|key|id|code|color|colour)s?$/i;
const VALUE = /^[\w .:/-]{1,40}$/;
const SORT = /^[\w.-]{1,24}$/;
const WORD = /^[a-z][a-z_-]{1,23}$/;
/** A template that prints the whole body has read everything. */
const WHOLE = /\{\{[^{}]{0,200}\b(?:payload|this|@root)\s{0,9}\}\}/;

/** Says which field would tell them apart; it may well be that all of them are meant. The same of each of the requests. */
export function kindNotes(now: Judged, others: readonly Judged[]): readonly SettingNote[] {
  const { mapping } = now.evaluation;
  const when = mapping?.match.when;
  if (mapping === undefined || mapping.transform !== undefined) return [];
  const taken = [now, ...others]
    .filter((each) => each.evaluation.mapping?.id === mapping.id && isTaken(each))
    .toSorted((a, b) => a.request.receivedAt - b.request.receivedAt);
  if (!taken.includes(now)) return [];
  const written = writtenIn(mapping);
  const kinds = kindsByHeader(taken, written) ?? kindsByField(taken, written);
  if (kinds === undefined || kinds.values.length < 2) return [];
  const { name, path, values } = kinds;
  const meant = likeliestKind(values);
  const leaf = { '===': [{ var: path }, meant] };
  return [
    note('when', when?.at ?? mapping.at, [
      `nothing in the mapping reads ${name}, so requests of several kinds were taken: ${values.map((value) => `"${value}"`).join(', ')}`,
      `if only one kind is meant, such as "${meant}", ${joinedText(now, mapping, leaf)}`,
    ]),
  ];
}

/** What tells requests of several kinds apart. */
interface Kinds {
  readonly name: string;
  /** As a condition writes it. */
  readonly path: string;
  /** Those of the earliest requests first. */
  readonly values: readonly string[];
}

/** By a header that no text of the mapping reads; not where a field or a header that it reads tells as much. */
function kindsByHeader(taken: readonly Judged[], written: string): Kinds | undefined {
  const text = written.toLowerCase();
  const headers = kindHeaders(taken[0]?.request.headers ?? {});
  const fields = differingIn(taken).filter((path) => OF_A_KIND.test(path) && written.includes(path));
  const isRead = (name: string): boolean => text.includes(name);
  const isTold = (name: string): boolean =>
    headers.some((each) => isRead(each) && tellsAsMuch(taken, name, (one) => headerOf(one, each))) ||
    fields.some((path) => tellsAsMuch(taken, name, (one) => valueOf(one, path)));
  const name = headers.find((each) => !isRead(each) && headersOf(taken, each).length > 1 && !isTold(each));
  if (name === undefined) return undefined;
  return { name: `headers.${name}`, path: `headers.${name}`, values: headersOf(taken, name) };
}

/** Whether another value differs in all requests in which the header does. */
function tellsAsMuch(
  taken: readonly Judged[],
  name: string,
  other: (one: Judged) => string | undefined,
): boolean {
  return taken.every((a) =>
    taken.every((b) => headerOf(a, name) === headerOf(b, name) || other(a) !== other(b)),
  );
}

const headerOf = ({ request }: Judged, name: string): string | undefined => request.headers[name];

/** The values of a header that each of them has. */
function headersOf(taken: readonly Judged[], name: string): readonly string[] {
  const values = taken.map((each) => headerOf(each, name)).filter((value) => value !== undefined);
  return values.length < taken.length ? [] : [...new Set(values)].slice(0, MAX_KINDS);
}

function kindsByField(taken: readonly Judged[], written: string): Kinds | undefined {
  const name = WHOLE.test(written) ? undefined : fieldOfKinds(taken, written);
  if (name === undefined) return undefined;
  const path = written.includes('payload.') || SCOPE.test(name) ? `payload.${name}` : name;
  return { name, path, values: kindsOf(taken, name) };
}

/** Names that stand for something else than a field of the body. */
const SCOPE = /^(?:payload|headers|query|path|now|item|index|receivedAt)(?:\.|$)/;
const MAX_KINDS = 6;

/** The likeliest field whose value is another one in two of them: what happened, before its sort, before any lone word. */
function fieldOfKinds(taken: readonly Judged[], written: string): string | undefined {
  const open = differingIn(taken)
    .filter((path) => !written.includes(path) && kindsOf(taken, path).length > 1)
    .toSorted((a, b) => a.split('.').length - b.split('.').length || (a < b ? -1 : 1));
  const isOf = [
    (path: string) => OF_A_KIND.test(path),
    (path: string) => OF_A_SORT.test(path) && isOfWords(taken, path, SORT),
    (path: string) =>
      !OF_A_NAME.test(path) && isOfWords(taken, path, WORD) && kindsOf(taken, path).length < taken.length,
  ];
  return isOf.map((form) => open.find(form)).find((path) => path !== undefined);
}

/** Paths of the bodies whose values are not the same in all of them. */
function differingIn([first, ...rest]: readonly Judged[]): readonly string[] {
  const differing = rest.flatMap((each) =>
    first === undefined ? [] : compareBodies(first.request.payload, each.request.payload).different,
  );
  return [...new Set(differing)];
}

/** Whether each of them has a short word there, and not only in an element of a list. */
function isOfWords(taken: readonly Judged[], path: string, form: RegExp): boolean {
  return !/\.\d+(?:\.|$)/.test(path) && taken.every((each) => form.test(valueOf(each, path) ?? ''));
}

/** Its values, those of the earliest requests first. */
function kindsOf(taken: readonly Judged[], field: string): readonly string[] {
  const values = taken.map((each) => valueOf(each, field)).filter((value) => value !== undefined);
  return [...new Set(values)].slice(0, MAX_KINDS);
}

/** Letters of a condition that is given whole. */
const MAX_CONDITION = 400;

/** The condition with one part more. */
function joinedText({ evaluation }: Judged, { id, match }: CompiledMapping, leaf: object): string {
  if (match.when === undefined) return `write when: ${JSON.stringify(leaf)} in match`;
  const { considered } = evaluation.trace;
  const rule = considered.find(({ mapping }) => mapping.id === id)?.nodes?.[0]?.rule;
  const whole = rule === undefined ? '' : JSON.stringify({ and: [...conjunctsOf(rule), leaf] });
  return whole === '' || whole.length > MAX_CONDITION
    ? `write ${JSON.stringify(leaf)} into the list of "and" of its condition`
    : `write when: ${whole}`;
}

const isTaken = ({ evaluation: { outcome } }: Judged): boolean => outcome.kind === 'accepted';

function valueOf({ request }: Judged, field: string): string | undefined {
  const value = fieldAt(request.payload, field.split('.'));
  return typeof value === 'string' && VALUE.test(value) ? value : undefined;
}
