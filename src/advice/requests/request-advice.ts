import { formatPlace } from '../../document/document.ts';
import { isKindCode } from './evaluation-note.ts';
import type { AdviceNote, EvaluationAdvice, FoundText } from './evaluation-advice.ts';
import { type Evaluation } from '../../hook/hook.ts';
import { type ConsideredMapping, type RoutingTable } from '../../mapping/mapping.ts';
import { isJsonObject } from '../../json.ts';
import type { HookRequest } from '../../request.ts';
import { catchAllNotes } from './catch-all-note.ts';
import { fallbackKeys } from './empty-key.ts';
import { findElementReads } from './element-reads.ts';
import { firstDecidesNotes } from './first-decides-note.ts';
import { listFields } from './field-list.ts';
import { jsonTextNotes } from './json-text-note.ts';
import { findInstead, firstElement, type Instead } from './instead.ts';
import { listBodyNote, readsBodyAsList } from './list-body-note.ts';
import { laterMappings } from './later-mappings.ts';
import { adviseOnFailed, notesOnHeld } from './leaf-advice.ts';
import { unreadKinds } from './kind-fields.ts';
import { findNearNames } from './near-names.ts';
import { otherRootNotes } from './other-root.ts';
import { BODY_IS_EMPTY, notesOn } from './request-notes.ts';
import { takenNameNotes } from './reserved-names.ts';
import { templateNotes } from './template-notes.ts';
import { zoneNotes } from './zone-note.ts';
import { splitKeyNotes } from './split-key-note.ts';
import { findText } from './near-paths.ts';

/** Mappings named at most. */
const MAX_NAMED = 10;

type FullAdvice = EvaluationAdvice & Required<Pick<EvaluationAdvice, 'fields' | 'keys' | 'leaves' | 'notes'>>;

/** Looks at a request beside its evaluation: why it missed, and what else would have taken it. */
export function adviceFor(evaluation: Evaluation, request: HookRequest, table: RoutingTable): FullAdvice {
  const { considered } = evaluation.trace;
  const kind = [
    ...notesOn(request, table.settingsOf(request.path), false).filter(({ code }) => isKindCode(code)),
    ...catchAllNotes(evaluation, request, table),
  ].slice(0, 1);
  if (evaluation.mapping === undefined && kind.length > 0)
    return ofItsKind(kind, evaluation, { request, table });
  const reads = findElementReads(evaluation, request);
  const taken = takenNameNotes(evaluation, request);
  const instead = findInstead(evaluation, request, reads?.names);
  const listBody = listBodyNote(evaluation, request);
  const isListTold = reads !== undefined || listBody !== undefined || readsBodyAsList(evaluation);
  const isAmiss = !isListTold && isReadAmiss(evaluation);
  return {
    nearNames: table.canTake(request.path) ? [] : nearNames(request, table),
    notes: [
      ...(reads === undefined ? [] : [reads.note]),
      ...(listBody === undefined ? [] : [listBody]),
      ...notesOn(request, table.settingsOf(request.path), isAmiss),
      ...emptyBodyNotes(evaluation, request, instead),
      ...otherRootNotes(considered, request, instead),
      ...outerValues(evaluation, request),
      ...jsonTextNotes(evaluation, request, instead),
      ...taken,
      ...splitKeyNotes(considered, request),
      ...firstDecidesNotes(evaluation, request),
      ...notesOnHeld(evaluation, request),
      ...zoneNotes(evaluation, request),
      ...templateNotes(evaluation, request),
      ...unreadKinds(evaluation, request),
    ],
    instead,
    keys: fallbackKeys(evaluation, request),
    leaves: adviseOnFailed(considered, request, instead),
    foundAt: taken.some(({ code }) => code === 'taken_name')
      ? new Map()
      : foundElsewhere(considered, request),
    alsoMatched: laterMappings(evaluation, request, table),
    fields: listFields(evaluation, request),
  };
}

/** What stands elsewhere in the request is surer than that it has no body. */
function emptyBodyNotes(
  evaluation: Evaluation,
  { payload }: HookRequest,
  instead: Instead,
): readonly AdviceNote[] {
  const isEmpty = isJsonObject(payload) && Object.keys(payload).length === 0;
  const isTaken = evaluation.mapping !== undefined && isReadAmiss(evaluation);
  return isEmpty && isTaken && instead.size === 0 ? [BODY_IS_EMPTY] : [];
}

/** Of a request that is no event: that it misses conditions and fields is no fault. */
function ofItsKind(
  notes: readonly AdviceNote[],
  evaluation: Evaluation,
  { request, table }: { readonly request: HookRequest; readonly table: RoutingTable },
): FullAdvice {
  return {
    nearNames: table.canTake(request.path) ? [] : nearNames(request, table),
    notes,
    instead: new Map(),
    keys: new Map(),
    leaves: new Map(),
    foundAt: new Map(),
    alsoMatched: [],
    fields: listFields(evaluation, request),
  };
}

/** Whether a body of another form than was meant would explain what became of it: nothing matched, or names found nothing. */
export function isReadAmiss({ mapping, trace }: Evaluation): boolean {
  if (mapping === undefined) return true;
  return mapping.forEach === undefined && trace.templates.some(({ empty }) => empty.length > 0);
}

/** Values of the whole body that a mapping with `forEach` prints although each element has one of that name. */
function outerValues(evaluation: Evaluation, request: HookRequest): readonly AdviceNote[] {
  const { trace } = evaluation;
  const { payload } = request;
  const element = firstElement(evaluation, request);
  if (!isJsonObject(element) || !isJsonObject(payload)) return [];
  // Of a key that is the same for each element there is a warning.
  const templates = trace.templates.filter(({ field }) => !/^(?:dedupe|debounce)\./.test(field));
  const written = templates.map(({ at }) => at.source.text.slice(at.start, at.end)).join(' ');
  const printed = new Set(
    [...written.matchAll(/\{\{\s*([A-Za-z_]\w*)\s*\}\}/g)].map(([, name = '']) => name),
  );
  return [...printed]
    .filter((name) => Object.hasOwn(element, name) && Object.hasOwn(payload, name))
    .map((name) => ({
      code: 'outer_value',
      text: `${name} is the one of the whole body; each element has one, too: where that is meant write {{item.${name}}}`,
      names: [name],
    }));
}

/** Expected texts that stand at another place of the body, or nearly so. */
function foundElsewhere(
  considered: readonly ConsideredMapping[],
  request: HookRequest,
): EvaluationAdvice['foundAt'] {
  const found = new Map<string, FoundText>();
  const leaves = considered.flatMap(({ failed, parts = [] }) =>
    failed?.part === 'when' ? [failed.node, ...parts.filter(({ leaf }) => leaf)] : [],
  );
  for (const { expected, found: was, result } of leaves) {
    if (result === 'true') continue;
    if (typeof expected !== 'string' || expected === was || expected.length < 3) continue;
    if (found.has(expected)) continue;
    const text = findText(expected, request, was);
    if (text !== undefined) found.set(expected, text);
  }
  return found;
}

function nearNames(request: HookRequest, table: RoutingTable): EvaluationAdvice['nearNames'] {
  return findNearNames(request.path, table)
    .slice(0, MAX_NAMED)
    .map(({ name, why, mapping }) => ({ name, why, at: formatPlace(mapping.match.pathAt ?? mapping.at) }));
}
