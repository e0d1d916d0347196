import { say, todo, type Finding } from '../../../base/finding.ts';
import { formatPlace } from '../../../base/document/document.ts';
import { requestFinding } from './findings.ts';
import { NO_ADVICE, type EvaluationAdvice } from './evaluation-advice.ts';
import { codeOf, encodedWords, jsonTextOn, parseCode, readEncoded } from '../../../engine/hook/facts.ts';
import type { Evaluation } from '../../../engine/hook/hook.ts';
import { nearestMisses } from './considered-findings.ts';
import {
  takesRequest,
  WorkBudget,
  type CompiledMapping,
  type RoutingTable,
} from '../../../engine/mapping/mapping.ts';
import { namesRead, WORK_LIMITS } from '../../../engine/mapping/facts.ts';
import { fieldAt, isJsonObject, isJsonText, parseJson, type JsonValue } from '../../../base/json.ts';
import type { HookRequest } from '../../../base/request.ts';
import { createBodyIndex } from './body-index.ts';
import { findSuggestions, missingIn } from './near-paths.ts';
import { otherKindNotes } from './other-kind.ts';
import { adviseOnParts } from './part-advice.ts';
import { findNearNames } from './near-names.ts';
import { findKind, findMisread } from './request-notes.ts';

const MAX_NAMED = 10;

/** Looks at a request beside its evaluation: why it missed, and what else would have matched it. */
export function adviceFor(
  evaluation: Evaluation,
  request: HookRequest,
  table: RoutingTable,
): EvaluationAdvice {
  const { mapping, outcome, trace } = evaluation;
  const settings = table.settingsOf(request.path);
  const isOdd = isReadAmiss(evaluation) || outcome.kind === 'rejected';
  const kind = isOdd ? findKind(request, settings) : undefined;
  const near = table.canTake(request.path) ? [] : findNearNames(request.path, table).slice(0, MAX_NAMED);
  // A request that is no event misses conditions and fields without fault.
  if (mapping === undefined && kind !== undefined) return { ...NO_ADVICE, findings: [...near, kind] };
  const body = createBodyIndex(request.payload);
  const suggestions = findSuggestions(evaluation, request, body);
  const parts = adviseOnParts(trace.considered, { request, body, suggestions });
  // A field that was found in an element is more certain than the fact that the body is a list.
  const isListSaid = (Array.isArray(request.payload) && parts.length > 0) || readsBodyAsList(evaluation);
  const isNamed = table.canTake(request.path);
  const misread =
    isNamed && !isListSaid && isReadAmiss(evaluation) ? findMisread(request, settings) : undefined;
  return {
    findings: [
      ...near,
      ...[kind, misread].filter((each) => each !== undefined),
      ...jsonTextNotes(evaluation, request),
      ...otherKindNotes(evaluation, request, suggestions),
      ...parts,
      ...laterMappings(evaluation, request, table),
    ],
    suggestions,
  };
}

/** Whether a body of another form than was meant explains the result: nothing matched, or names found nothing. */
export function isReadAmiss({ mapping, trace }: Evaluation): boolean {
  if (mapping === undefined) return true;
  return mapping.forEach === undefined && trace.templates.some(({ empty }) => empty.length > 0);
}

/** Whether the mapping that came nearest goes through the list that the body is. */
export function readsBodyAsList({ trace: { considered } }: Evaluation): boolean {
  const nearest = nearestMisses(considered)[0];
  const names = namesRead(nearest?.nodes?.[0]?.rule ?? null);
  return nearest?.mapping.forEach?.keys.length === 0 || names.includes('payload') || names.includes('');
}

/** SNS and others send a whole event as a text in one field of the body. */
function textWith(name: string, payload: JsonValue): ReturnType<typeof jsonTextOn> {
  if (!isJsonObject(payload)) return undefined;
  const keys = name.split('.');
  for (const [path, value] of Object.entries(payload)) {
    const found = typeof value === 'string' ? readEncoded(value) : undefined;
    if (found !== undefined && isJsonText(found.json) && fieldAt(parseJson(found.json), keys) !== undefined)
      return { path: path || '""', code: codeOf('payload', [path]), isBase64: found.isBase64 };
  }
  return undefined;
}

/** A condition or template cannot read into a field that holds JSON as a text. */
function jsonTextNotes({ trace }: Evaluation, request: HookRequest): readonly Finding[] {
  const names = [
    ...trace.considered.flatMap(missingIn),
    ...trace.templates.flatMap(({ empty }) => empty.map(({ expression }) => expression.trim())),
  ];
  const found = new Map(
    names.flatMap((name) => {
      const text = jsonTextOn(name, { request }) ?? textWith(name, request.payload);
      return text === undefined ? [] : [[text.path, text] as const];
    }),
  );
  return [...found.values()].map(({ path, code, isBase64 }) => {
    const text = say`${path} is ${encodedWords(isBase64)}, and neither a condition nor a template reads into it: ${todo}let the sender send it as an object, or read it in a transform, with ${parseCode(code, isBase64)}`;
    return requestFinding('json_text', text, { paths: [path] });
  });
}

/** Finds mappings behind the first match that would have matched the request, too. */
function laterMappings(
  { mapping: first, further }: Evaluation,
  request: HookRequest,
  { mappings }: RoutingTable,
): readonly Finding[] {
  const mapping = further?.at(-1) ?? first;
  if (mapping === undefined) return [];
  const scope = { request, work: new WorkBudget(WORK_LIMITS) };
  const found: Finding[] = [];
  for (const other of mappings.filter(({ order }) => order > mapping.order)) {
    if (found.length === MAX_NAMED) break;
    try {
      if (takesRequest(other, scope)) found.push(alsoMatched(other, further && mapping));
    } catch {
      // A condition that does not end on this body matches nothing.
      break;
    }
  }
  return found;
}

function alsoMatched({ id, at: place }: CompiledMapping, last: CompiledMapping | undefined): Finding {
  const at = formatPlace(place);
  const why = last ? say`${last.id}, which took it, has no continue` : 'only the first that matches acts';
  const text = say`${id} would have taken it, too, but stands later: ${why}`;
  return requestFinding('also_matched', text, { at, mapping: { id, at } });
}
