/** Says what the store knows of a request, beside what the mappings make of it now. */
import type { LoadedConfig } from '../../engine/config/config.ts';
import { evaluationFindings, howRepeated, requestFinding, withCodes } from '../advice/requests.ts';
import { say, todo, type Finding, type Sentence, type StoredFinding, plural } from '../../base/finding.ts';
import type { RoutingTable } from '../../engine/mapping/mapping.ts';
import { evaluationToJson, type Evaluation } from '../../engine/hook/hook.ts';
import type { EvaluationJson, KeptTrace } from '../../engine/hook/facts.ts';
import type { StoredRequest } from '../../engine/storage/facts.ts';
import { holdsUnkept, type HookRequest } from '../../base/request.ts';
import { REMOVED } from '../../base/telemetry/telemetry.ts';
import type { DecisionRecord } from '../../engine/storage/storage.ts';
import { findingNotes, isOfTransform, reasonNotes } from './decision-reasons.ts';
import type { RequestExplanation } from './explain-request.ts';

export interface StoredFacts {
  readonly decision: DecisionRecord | undefined;
  /** What the request became, or for a repeat what the first one became. */
  readonly work: Pick<StoredRequest, 'runs' | 'events'>;
  readonly keepRequests: LoadedConfig['settings']['storage']['keepRequests'];
  /** Settings that took part, as they are now. */
  readonly settings: readonly Finding[];
  readonly isHidden?: boolean | undefined;
  /** The request as it was stored; absent where it was not. */
  readonly request?: HookRequest | undefined;
  /** How it was judged when it came. */
  readonly judged?: KeptTrace | undefined;
  /** The mappings that its findings are about; absent where they cannot be read. */
  readonly table?: RoutingTable | undefined;
  /** What the mappings of now make of it. */
  readonly today?: RequestExplanation | undefined;
  /** The explanation that is shown. The content is missing for a name that no mapping matched. */
  readonly explained?: RequestExplanation | undefined;
}

/** Returns all notes in the order of the text, without those of the evaluation. */
export function storedNotes(facts: StoredFacts): readonly Finding[] {
  const { request, settings } = facts;
  return [
    ...(request === undefined ? unkeptNotes(facts) : keptNotes(facts, request)),
    ...settings.filter((each) => request === undefined || !isReportedBefore(each)),
  ];
}

/** Settings that the explanation of a stored request reports with its evaluation, and findings that it does. */
export const isReportedBefore = ({ subject }: Finding): boolean => subject?.setting === 'forEach';
const OF_REQUEST: readonly string[] = ['skipped', 'returned_nothing', 'not_json', 'other_format', 'field'];

function keptNotes(
  { decision, work, judged, explained, today, settings, table }: StoredFacts,
  request: HookRequest,
): readonly Finding[] {
  const changed =
    judged === undefined || today === undefined || !isJudgedWhole(today.evaluation, request)
      ? []
      : changedNotes(judged, evaluationToJson(today.evaluation));
  const repeat = repeatNotes(decision, work);
  const advice = explained?.advice.findings ?? [];
  const all = [...settings, ...withCodes(advice, 'setting')];
  const isAccountTold = all.some(({ subject }) => subject?.setting === 'ignoreSenders');
  const reported = new Set([
    ...(isAccountTold ? ['no_account'] : []),
    ...advice.map(({ code }) => code),
    ...(repeat.length === 0 ? [] : ['repeat']),
    ...(explained === undefined ? [] : OF_REQUEST),
  ]);
  const found = decision === undefined ? [] : findingNotes(decision, table, reported);
  return [...repeat, ...found.filter((note) => !isOfTransform(note)), ...removedNotes(request), ...changed];
}

/**
 * Whether everything that decides about the request today was stored. Without it nobody knows how it would be judged.
 */
function isJudgedWhole({ trace, outcome }: Evaluation, { payload }: HookRequest): boolean {
  const isWhole = !holdsUnkept(payload);
  const reads = trace.considered.flatMap(({ nodes = [], parts = [] }) => [...nodes, ...parts]);
  const isOfMatch = outcome.kind !== 'rejected' || outcome.error.code === 'no_mapping_matched';
  return isWhole || (isOfMatch && !reads.some(({ found }) => holdsUnkept(found)));
}

const repeatIn = (decision: DecisionRecord | undefined): StoredFinding | undefined =>
  decision?.findings?.find(({ code }) => code === 'repeat');

function repeatNotes(decision: DecisionRecord | undefined, work: StoredFacts['work']): readonly Finding[] {
  const first = repeatedOf(decision?.requestId, work);
  if (first === undefined) return [];
  const facts = repeatIn(decision)?.facts;
  const how = facts === undefined ? '' : say`, by ${howRepeated(facts)}`;
  const text = say`a repeat of ${first.what} of request ${first.requestId}${how}: nothing new was made`;
  return [requestFinding('repeat', text)];
}

/** Says what another request had made, and which one that was. */
function repeatedOf(
  requestId: string | undefined,
  { runs, events }: StoredFacts['work'],
): { readonly what: string; readonly requestId: string } | undefined {
  const made = [
    ...runs.map(({ run: { id, action, events: joined = [] } }) => ({
      what: `${action.kind === 'notify' ? 'notification' : 'run'} ${id}`,
      by: [action, ...joined].map(({ origin }) => origin.requestId),
    })),
    ...events.map(({ id, origin }) => ({ what: `event ${id}`, by: [origin.requestId] })),
  ];
  if (requestId === undefined || made.some(({ by }) => by.includes(requestId))) return undefined;
  return made.map(({ what, by: [first = ''] }) => ({ what, requestId: first }))[0];
}

function unkeptNotes(facts: StoredFacts): readonly Finding[] {
  const { explained, decision, table } = facts;
  const shown = decision && {
    ...decision,
    // A name that is still unknown is reported with the list of names.
    findings: decision.findings?.filter(({ code }) => code !== 'unknown_name' || explained === undefined),
  };
  return [
    ...(shown === undefined ? [] : reasonNotes(shown, table)),
    ...(explained === undefined ? [notKept(facts, decision)] : nameNotes(explained)),
  ];
}

function nameNotes({ evaluation, advice }: RequestExplanation): readonly Finding[] {
  return evaluation.outcome.kind === 'rejected' && evaluation.mapping === undefined
    ? evaluationFindings(evaluation, advice)
    : [
        requestFinding(
          'name_known',
          say`With the mappings as they are now, there is a mapping for this name.`,
        ),
      ];
}

function removedNotes({ headers, query }: HookRequest): readonly Finding[] {
  const paths = [...Object.entries(headers), ...Object.entries(query)].flatMap(([name, value]) =>
    value === REMOVED ? [name] : [],
  );
  if (paths.length === 0) return [];
  const text = say`not kept, because they are secrets: ${paths.join(', ')}; a condition or template that reads one sees "${REMOVED}" here`;
  return [requestFinding('removed', text, { paths })];
}

function changedNotes(before: KeptTrace, now: EvaluationJson): readonly Finding[] {
  const [was, is] = [outcomeText(before), outcomeText(now)];
  if (was === is) return [];
  const failed = before.considered.find((entry) => entry.failed !== undefined)?.failed;
  const otherwise = (
    text: Sentence,
    about?: { readonly field?: string; readonly at: string | undefined },
  ): Finding => requestFinding('judged_otherwise', text, about);
  return [
    otherwise(say`then: ${was} (generation ${before.generation})`),
    otherwise(say`now:  ${is}`),
    ...(failed?.expression === undefined
      ? []
      : [otherwise(say`then failed: ${failed.part} ${failed.expression}`, { at: failed.at })]),
    ...before.empty.map(({ field, expression, at }) =>
      otherwise(say`then rendered empty: ${field}: ${expression}`, { field, at }),
    ),
  ];
}

function outcomeText({
  outcome,
  mapping,
  error,
  actions,
}: Pick<KeptTrace, 'outcome' | 'mapping' | 'error'> & { readonly actions: readonly unknown[] }): string {
  const refusal = error === undefined ? '' : ` ${error.status} ${error.code}`;
  return `${outcome}${refusal}, mapping ${mapping?.id ?? 'none'}, ${plural(actions.length, 'action')}`;
}

/** Whether the request was answered before any mapping saw it. */
export function isBeforeMappings(decision: DecisionRecord | undefined): boolean {
  return decision?.code !== undefined && decision.mappingId === undefined && decision.missed === undefined;
}

function notKept({ keepRequests, isHidden }: StoredFacts, decision: DecisionRecord | undefined): Finding {
  if (isHidden === true) {
    const text = say`What was sent is not shown to the role view: a key of the role inspect shows what is kept of it.`;
    return requestFinding('hidden', text);
  }
  if (['sender', 'signed', 'event'].includes(String(repeatIn(decision)?.facts?.['by']))) {
    const text = say`A repeat that is recognised by what its sender sends is not judged, and not kept.`;
    return requestFinding('not_kept', text);
  }
  const text = isBeforeMappings(decision)
    ? say`Its content was not kept: what is refused before its proof never is.`
    : say`The request itself ${howToKeep(decision, keepRequests)}.`;
  return requestFinding('not_kept', text);
}

function howToKeep(decision: DecisionRecord | undefined, written: StoredFacts['keepRequests']): Sentence {
  if (decision?.keepRequests === 'none')
    return say`was not kept: the mappings of its path say keepRequests: none; ${todo}remove that to keep the next one, and send it again`;
  const { which = 'shapes' } = Object.keys(written).length === 0 ? {} : written;
  if (which === 'shapes' || which === 'all')
    return say`is not kept any more, or more came at once than are kept: storage.keepRequests says how much, and how long`;
  // Only "shapes" and "all" keep requests that were answered well.
  const wanted =
    decision !== undefined && decision.status < 400 ? say`shapes or all` : say`shapes, failed or all`;
  return say`was not kept: storage.keepRequests.which is ${which}; ${todo}set it to ${wanted} to keep the next one, and send it again`;
}
