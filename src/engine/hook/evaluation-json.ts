import { defined } from '../../base/json.ts';
import type { Action, NotAllowed } from '../../base/action.ts';
import { type RequestFindingJson, requestFindingToJson } from '../../base/finding.ts';
import { formatPlace } from '../../base/document/document.ts';
import type { HookError } from '../../base/errors.ts';
import type {
  CompiledMapping,
  CompiledTemplate,
  ConditionTrace,
  ConsideredMapping,
} from '../mapping/mapping.ts';
import type { TransformReply } from '../sandbox/sandbox.ts';
import type { Evaluation, RenderedTemplate, SkippedBy, TransformTrace } from './evaluation.ts';

/** An evaluation as `explain --json` prints it: plain data, places as `file:line:column`. */
export interface EvaluationJson {
  readonly outcome: 'accepted' | 'skipped' | 'rejected';
  readonly skippedBy?: SkippedBy;
  /** The run whose comment it tells of. */
  readonly ownRun?: string;
  /** The account that the mapping ignores. */
  readonly ignoredSender?: string;
  /** Why the account may not start it, and what would be enough. */
  readonly notAllowed?: NotAllowed;
  readonly error?: {
    readonly status: number;
    readonly code: string;
    readonly detail: string;
    readonly errors: readonly RequestFindingJson[];
  };
  readonly mapping?: { readonly id: string; readonly at: string };
  /** Mappings that were taken after it. */
  readonly further?: readonly { readonly id: string; readonly at: string }[];
  readonly actions: readonly Action[];
  readonly warnings: readonly RequestFindingJson[];
  readonly considered: readonly ConsideredJson[];
  readonly empty: readonly {
    readonly field: string;
    readonly expression: string;
    readonly at: string;
    readonly index?: number;
  }[];
  /** What each template became, expression by expression; empty where only the decision was recorded. */
  readonly templates: readonly TemplateJson[];
  readonly transforms: readonly {
    readonly module: string;
    readonly at: string;
    readonly index?: number;
    readonly problem?: string;
    readonly reply: TransformReply;
  }[];
}

export interface TemplateJson {
  readonly field: string;
  readonly at: string;
  readonly index?: number;
  readonly text?: string;
  readonly pieces: readonly {
    readonly expression: string;
    readonly at: string;
    /** At most 500 characters of what it printed. */
    readonly text: string;
    /** Where in the whole text it stands. */
    readonly start: number;
    readonly end: number;
    /** Where the value stands in the request; absent where that cannot be said. */
    readonly path?: string;
  }[];
}

/** A part of a condition with what it found; parts that were not asked any more are absent. */
export interface ConditionJson extends Omit<ConditionTrace, 'at' | 'rule' | 'leaf' | 'depth'> {
  readonly at: string;
  readonly children: readonly ConditionJson[];
}

/** One considered mapping; `held` counts the parts that held before the one that failed. */
export interface ConsideredJson {
  readonly id: string;
  readonly at: string;
  readonly matched: boolean;
  readonly held: number;
  readonly failed?: Partial<Omit<ConditionJson, 'children' | 'element'>> & {
    readonly part: 'path' | 'source' | 'when';
  };
  /** The whole condition as it was judged; absent where path or source already failed, or there is none. */
  readonly condition?: ConditionJson;
}

/** Turns an evaluation into plain data for JSON output. */
export function evaluationToJson(evaluation: Evaluation): EvaluationJson {
  const { outcome, mapping, further, warnings, trace } = evaluation;
  const taken = [mapping, ...(further ?? [])];
  return {
    outcome: outcome.kind,
    ...(outcome.kind === 'skipped' ? skippedToJson(outcome) : {}),
    ...(outcome.kind === 'rejected' ? { error: pickError(outcome.error) } : {}),
    ...defined({ mapping: mapping && namedAt(mapping), further: further?.map(namedAt) }),
    actions: outcome.kind === 'accepted' ? outcome.actions : [],
    warnings: warnings.map(requestFindingToJson),
    considered: trace.considered.map(consideredToJson),
    empty: trace.templates.flatMap(emptyToJson),
    templates: trace.templates.flatMap((template) => templateToJson(template, taken)),
    transforms: trace.transforms.map(transformToJson),
  };
}

const namedAt = ({ id, at }: CompiledMapping): { readonly id: string; readonly at: string } => ({
  id,
  at: formatPlace(at),
});

function emptyToJson({ field, empty, index }: RenderedTemplate): EvaluationJson['empty'] {
  return empty.map(({ expression, at }) => ({
    field,
    expression,
    at: formatPlace(at),
    ...defined({ index }),
  }));
}

function transformToJson({
  call,
  reply,
  at,
  index,
  problem,
}: TransformTrace): EvaluationJson['transforms'][number] {
  return { module: call.ref.module, at: formatPlace(at), ...defined({ index, problem }), reply };
}

function skippedToJson(
  outcome: Extract<Evaluation['outcome'], { readonly kind: 'skipped' }>,
): Pick<EvaluationJson, 'skippedBy' | 'ownRun' | 'ignoredSender' | 'notAllowed'> {
  const ownRun = outcome.by === 'ownComment' ? outcome.runId : undefined;
  const ignoredSender = outcome.by === 'ignoreSenders' ? outcome.sender : undefined;
  return { skippedBy: outcome.by, ...defined({ ownRun, ignoredSender, notAllowed: notAllowedBy(outcome) }) };
}

function notAllowedBy(
  outcome: Extract<Evaluation['outcome'], { readonly kind: 'skipped' }>,
): NotAllowed | undefined {
  if (outcome.by !== 'not_allowed') return undefined;
  const { kind: _kind, by: _by, ...why } = outcome;
  return why;
}

function pickError({ status, code, detail, errors }: HookError): NonNullable<EvaluationJson['error']> {
  return { status, code, detail, errors: errors.map(requestFindingToJson) };
}

/** Pieces reported of one rendering: a loop over a long list prints without end. */
const MAX_PIECES = 200;
/** UTF-16 units of a piece that are reported. */
const MAX_PIECE_CHARS = 500;

function templateToJson(
  { field, at, index, text, source }: RenderedTemplate,
  taken: readonly (CompiledMapping | undefined)[],
): readonly TemplateJson[] {
  if (source === undefined) return [];
  const mapping = taken.find((one) => one?.templates.get(field) === source.template) ?? taken[0];
  const pieces: TemplateJson['pieces'][number][] = [];
  let end = 0;
  for (const piece of piecesOf(source)) {
    const start = end;
    end += piece.text.length;
    const { expression, at: place } = piece;
    if (expression === undefined || place === undefined || pieces.length >= MAX_PIECES) continue;
    const path = piece.path === undefined ? undefined : ofElement(piece.path, index, mapping);
    const printed = piece.text.slice(0, MAX_PIECE_CHARS);
    pieces.push({ expression, at: formatPlace(place), text: printed, start, end, ...defined({ path }) });
  }
  return [{ field, at: formatPlace(at), ...defined({ index, text }), pieces }];
}

function piecesOf({
  template,
  scope,
}: NonNullable<RenderedTemplate['source']>): ReturnType<CompiledTemplate['pieces']> {
  try {
    return template.pieces(scope);
  } catch {
    // A template that prints too much has no pieces; the error is the evaluation's.
    return [];
  }
}

/** `item.x` of a batch as the path in the payload. */
function ofElement(path: string, index: number | undefined, mapping: CompiledMapping | undefined): string {
  if (index === undefined || mapping?.forEach === undefined || !/^item(?:\.|$)/.test(path)) return path;
  return ['payload', ...mapping.forEach.keys, index].join('.') + path.slice('item'.length);
}

interface OpenCondition extends ConditionJson {
  readonly children: ConditionJson[];
}

/** Nodes come in the order they were entered in, each with the number of those above it. */
function conditionToJson(nodes: readonly ConditionTrace[]): ConditionJson | undefined {
  const way: OpenCondition[] = [];
  for (const { at, depth, leaf: _leaf, rule: _rule, ...node } of nodes) {
    const entry: OpenCondition = { ...node, at: formatPlace(at), children: [] };
    way.length = Math.min(way.length, depth);
    way.at(-1)?.children.push(entry);
    way.push(entry);
  }
  return way[0];
}

function consideredToJson({ mapping, matched, held, failed, nodes }: ConsideredMapping): ConsideredJson {
  const condition = conditionToJson(nodes ?? []);
  return {
    id: mapping.id,
    at: formatPlace(mapping.at),
    matched,
    held,
    ...defined({ condition, failed: failed && failedToJson(failed) }),
  };
}

function failedToJson(
  failed: NonNullable<ConsideredMapping['failed']>,
): NonNullable<ConsideredJson['failed']> {
  const { part, at } = failed;
  const { found, expected } = failed.part === 'when' ? failed.node : failed;
  const node = failed.part === 'when' ? failed.node : {};
  const { expression, result, missing }: Partial<ConditionTrace> = node;
  return { part, ...defined({ at: at && formatPlace(at), expression, result, found, expected, missing }) };
}
