import { say, todo } from '../../finding.ts';
import { formatPlace } from '../../document/document.ts';
import { isKindCode } from './evaluation-note.ts';
import type { AdviceNote, EvaluationAdvice, FoundText } from './evaluation-advice.ts';
import { encodedWords, jsonTextOn, parseCode } from '../../hook/facts.ts';
import { type Evaluation } from '../../hook/hook.ts';
import { nearestMisses } from './considered-notes.ts';
import type { ConsideredMapping, RoutingTable } from '../../mapping/mapping.ts';
import { namesRead } from '../../mapping/facts.ts';
import { isJsonObject } from '../../json.ts';
import type { HookRequest } from '../../request.ts';
import { findElementReads } from './element-reads.ts';
import { listFields } from './field-list.ts';
import { createBodyIndex, type BodyIndex } from './body-index.ts';
import { findInstead, type Instead, missingIn } from './missing-paths.ts';
import { otherKindNotes } from './other-kind.ts';
import { splitKeyNotes } from './split-keys.ts';
import { laterMappings } from './later-mappings.ts';
import { adviseOnFailed, notesOnHeld } from './leaf-advice.ts';
import { unreadKinds } from './kind-fields.ts';
import { findNearNames } from './near-names.ts';
import { BODY_IS_EMPTY, notesOn } from './request-notes.ts';
import { findText } from './near-paths.ts';

/** Mappings named at most. */
const MAX_NAMED = 10;

type FullAdvice = EvaluationAdvice & Required<Pick<EvaluationAdvice, 'fields' | 'leaves' | 'notes'>>;

/** Looks at a request beside its evaluation: why it missed, and what else would have taken it. */
export function adviceFor(evaluation: Evaluation, request: HookRequest, table: RoutingTable): FullAdvice {
  const { considered } = evaluation.trace;
  const kind = notesOn(request, table.settingsOf(request.path), false)
    .filter(({ code }) => isKindCode(code))
    .slice(0, 1);
  if (evaluation.mapping === undefined && kind.length > 0)
    return ofItsKind(kind, evaluation, { request, table });
  const body = createBodyIndex(request.payload);
  const reads = findElementReads(evaluation, body);
  const instead = findInstead(evaluation, request, { body, ofElements: reads?.names });
  const isListTold = reads !== undefined || readsBodyAsList(evaluation);
  const isAmiss = !isListTold && isReadAmiss(evaluation);
  return {
    nearNames: table.canTake(request.path) ? [] : nearNames(request, table),
    notes: [
      ...(reads === undefined ? [] : [reads.note]),
      ...notesOn(request, table.settingsOf(request.path), isAmiss),
      ...emptyBodyNotes(evaluation, request, instead),
      ...jsonTextNotes(evaluation, request),
      ...splitKeyNotes(considered.flatMap(missingIn), request),
      ...otherKindNotes(evaluation, request, instead),
      ...notesOnHeld(evaluation, request),
      ...unreadKinds(evaluation, request),
    ],
    instead,
    leaves: adviseOnFailed(considered, request, instead),
    foundAt: foundElsewhere(considered, body),
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

/** Whether the mapping that came nearest goes through the list that the body is, so that nobody needs to be told. */
export function readsBodyAsList({ trace: { considered } }: Evaluation): boolean {
  const nearest = nearestMisses(considered)[0];
  const names = namesRead(nearest?.nodes?.[0]?.rule ?? null);
  return nearest?.mapping.forEach?.keys.length === 0 || names.includes('payload') || names.includes('');
}

/** Fields that hold JSON as a text, into which a condition or a template reads: neither can. */
function jsonTextNotes({ trace }: Evaluation, request: HookRequest): readonly AdviceNote[] {
  const names = [
    ...trace.considered.flatMap(missingIn),
    ...trace.templates.flatMap(({ empty }) => empty.map(({ expression }) => expression.trim())),
  ];
  const found = new Map(
    names.flatMap((name) => {
      const text = jsonTextOn(name, { request });
      return text === undefined ? [] : [[text.path, text.isBase64] as const];
    }),
  );
  return [...found].map(([path, isBase64]) => {
    const from = path.startsWith('payload.') ? path : `payload.${path}`;
    const text = say`${path} is ${encodedWords(isBase64)}, and neither a condition nor a template reads into it: ${todo}let the sender send it as an object, or read it in a transform, with ${parseCode(from, isBase64)}`;
    return { code: 'json_text', text, names: [path] };
  });
}

/** Expected texts that stand at another place of the body, or nearly so. */
function foundElsewhere(
  considered: readonly ConsideredMapping[],
  body: BodyIndex,
): EvaluationAdvice['foundAt'] {
  const found = new Map<string, FoundText>();
  const leaves = considered.flatMap(({ failed, parts = [] }) =>
    failed?.part === 'when' ? [failed.node, ...parts.filter(({ leaf }) => leaf)] : [],
  );
  for (const { expected, found: was, result } of leaves) {
    if (result === 'true') continue;
    if (typeof expected !== 'string' || expected === was || expected.length < 3) continue;
    if (found.has(expected)) continue;
    const text = findText(expected, body, was);
    if (text !== undefined) found.set(expected, text);
  }
  return found;
}

function nearNames(request: HookRequest, table: RoutingTable): EvaluationAdvice['nearNames'] {
  return findNearNames(request.path, table)
    .slice(0, MAX_NAMED)
    .map(({ mapping, ...near }) => ({ ...near, at: formatPlace(mapping.match.pathAt ?? mapping.at) }));
}
