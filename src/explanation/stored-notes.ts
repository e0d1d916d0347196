/*
 * What is said of a request that the store knows, beside what the mappings make of it now: in the words of the
 * operator's own files where it was not kept, and of how it was judged when it came where it was.
 */
import type { LoadedConfig } from '../config/config.ts';
import { evaluationNotes, howRepeated, settingNote, type EvaluationNote } from '../advice/requests.ts';
import type { StoredFinding } from '../finding.ts';
import type { RoutingTable } from '../mapping/mapping.ts';
import { evaluationToJson, type Evaluation } from '../hook/hook.ts';
import type { EvaluationJson, KeptTrace } from '../hook/facts.ts';
import type { StoredRequest } from '../storage/facts.ts';
import type { HookRequest } from '../request.ts';
import type { DecisionRecord } from '../storage/storage.ts';
import { findingNotes, reasonNotes } from './decision-reasons.ts';
import type { RequestExplanation } from './explain-request.ts';
import type { SettingNote } from './setting-notes.ts';

/** What is known of a request that was answered. */
export interface StoredFacts {
  readonly decision: DecisionRecord | undefined;
  /** What it became; of a repeat what the first one became. */
  readonly work: Pick<StoredRequest, 'runs' | 'events'>;
  readonly keepRequests: LoadedConfig['settings']['storage']['keepRequests'];
  /** Settings that took part, as they are now. */
  readonly settings: readonly SettingNote[];
  /** As it was kept; absent where it was not. */
  readonly request?: HookRequest | undefined;
  /** How it was judged when it came. */
  readonly judged?: KeptTrace | undefined;
  /** The mappings that its findings are about; absent where they cannot be read. */
  readonly table?: RoutingTable | undefined;
  /** What the mappings of now make of it. */
  readonly today?: RequestExplanation | undefined;
  /** What is told of it; of a name that no mapping takes without its content. */
  readonly explained?: RequestExplanation | undefined;
}

/** Everything that is said of it in the order of the text, without the notes of its evaluation. */
export function storedNotes(facts: StoredFacts): readonly EvaluationNote[] {
  const { request, settings } = facts;
  return [
    ...(request === undefined ? unkeptNotes(facts) : keptNotes(facts, request)),
    ...settings.filter(({ setting }) => request === undefined || !TOLD_BEFORE.has(setting)).map(settingNote),
  ];
}

/** Findings of a decision that a setting tells in more words. */
const TOLD_BY_SETTING: Readonly<Record<string, readonly string[]>> = {
  debounce: ['debounce'],
  'dedupe.key': ['new_event'],
  ignoreSenders: ['no_account'],
};

/** Settings whose part in a kept request is told with the request. */
export const TOLD_BEFORE: ReadonlySet<string> = new Set([
  'match.source',
  'forEach',
  'gateway.heartbeat.everySeconds',
  'hooks.defaults.deliver',
]);

const toldBySettings = (settings: readonly Pick<SettingNote, 'setting'>[]): readonly string[] =>
  settings.flatMap(({ setting }) => TOLD_BY_SETTING[setting] ?? []);

/** Findings that the explanation of a kept request tells itself. */
const OF_REQUEST: readonly string[] = ['skipped', 'returned_nothing', 'not_json', 'other_format', 'field'];

function keptNotes(
  { decision, work, judged, explained, today, settings, table }: StoredFacts,
  request: HookRequest,
): readonly EvaluationNote[] {
  const changed =
    judged === undefined || today === undefined
      ? []
      : changedNotes(judged, evaluationToJson(today.evaluation));
  const repeat = repeatNotes(decision, work);
  const told = new Set([
    ...toldBySettings([...settings, ...(explained?.advice.settings ?? [])]),
    ...(explained?.advice.notes ?? []).map(({ code }) => code),
    ...(repeat.length === 0 ? [] : ['repeat']),
    ...(explained === undefined ? [] : OF_REQUEST),
  ]);
  const found = decision === undefined ? [] : findingNotes(decision, table, told);
  return [
    ...repeat,
    ...found.filter(({ code }) => code !== 'transform'),
    ...removedNotes(request),
    ...changed,
  ];
}

/** The finding of a decision that a request was a repeat. */
const repeatIn = (decision: DecisionRecord | undefined): StoredFinding | undefined =>
  decision?.findings?.find(({ code }) => code === 'repeat');

function repeatNotes(
  decision: DecisionRecord | undefined,
  work: StoredFacts['work'],
): readonly EvaluationNote[] {
  const first = repeatedOf(decision?.requestId, work);
  if (first === undefined) return [];
  const facts = repeatIn(decision)?.facts;
  const how = facts === undefined ? '' : `, by ${howRepeated(facts)}`;
  const text = `a repeat of ${first.what} of request ${first.requestId}${how}: nothing new was made`;
  return [{ code: 'repeat', text }];
}

/** The header that a sender's key of a repeat came in. */
export function repeatHeader(decision: DecisionRecord | undefined): string | undefined {
  const { by, header } = repeatIn(decision)?.facts ?? {};
  return (by === 'sender' || by === 'signed') && typeof header === 'string' ? header : undefined;
}

/** Of a request all of whose work another one had made: what that is, and who made it. */
export function repeatedOf(
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

function unkeptNotes(facts: StoredFacts): readonly EvaluationNote[] {
  const { explained, decision, settings, table } = facts;
  const isDebounceTold = settings.some(({ setting }) => setting === 'debounce');
  const shown = decision && {
    ...decision,
    // A name that is still unknown is told with the names that there are.
    findings: decision.findings?.filter(
      ({ code }) =>
        !(code === 'unknown_name' && explained !== undefined) && !(code === 'debounce' && isDebounceTold),
    ),
  };
  return [
    ...(shown === undefined ? [] : reasonNotes(shown, table)),
    ...(explained === undefined ? [notKept(facts, decision)] : nameNotes(explained)),
  ];
}

/** Which hook names there are, where none was the one asked for. */
function nameNotes({ evaluation, advice }: RequestExplanation): readonly EvaluationNote[] {
  return isNameUnknown(evaluation)
    ? evaluationNotes(evaluation, advice)
    : [
        {
          code: 'name_known',
          text: 'With the mappings as they are now, there is a mapping for this name.',
        },
      ];
}

/** Whether still no mapping takes the name that was asked for. */
export const isNameUnknown = ({ outcome, mapping }: Evaluation): boolean =>
  outcome.kind === 'rejected' && mapping === undefined;

/** Names the secrets that were left out of what was kept. */
function removedNotes({ headers, query }: HookRequest): readonly EvaluationNote[] {
  const paths = [...Object.entries(headers), ...Object.entries(query)].flatMap(([name, value]) =>
    value === '[removed]' ? [name] : [],
  );
  if (paths.length === 0) return [];
  const text = `not kept, because they are secrets: ${paths.join(', ')}; a condition or template that reads one sees "[removed]" here`;
  return [{ code: 'removed', text, paths }];
}

/** How it was judged when it came, where that is another thing. */
function changedNotes(before: KeptTrace, now: EvaluationJson): readonly EvaluationNote[] {
  const [was, is] = [outcomeText(before), outcomeText(now)];
  if (was === is) return [];
  const failed = before.considered.find((entry) => entry.failed !== undefined)?.failed;
  const placedAt = (at: string | undefined): Pick<EvaluationNote, 'at'> => (at === undefined ? {} : { at });
  return [
    { code: 'judged_otherwise', text: `then: ${was} (generation ${before.generation})` },
    { code: 'judged_otherwise', text: `now:  ${is}` },
    ...(failed?.expression === undefined
      ? []
      : [
          {
            code: 'judged_otherwise',
            text: `then failed: ${failed.part} ${failed.expression}`,
            ...placedAt(failed.at),
          } as const,
        ]),
    ...before.empty.map(({ field, expression, at }): EvaluationNote => ({
      code: 'judged_otherwise',
      text: `then rendered empty: ${field}: ${expression}`,
      field,
      at,
    })),
  ];
}

function outcomeText({
  outcome,
  mapping,
  error,
  actions,
}: Pick<KeptTrace, 'outcome' | 'mapping' | 'error'> & { readonly actions: readonly unknown[] }): string {
  const refusal = error === undefined ? '' : ` ${error.status} ${error.code}`;
  const count = `${actions.length} action${actions.length === 1 ? '' : 's'}`;
  return `${outcome}${refusal}, mapping ${mapping?.id ?? 'none'}, ${count}`;
}

/** Whether it was answered before any mapping saw it. */
export function isBeforeMappings(decision: DecisionRecord | undefined): boolean {
  return decision?.code !== undefined && decision.mappingId === undefined && decision.missed === undefined;
}

/** Why there is no content to look at, and the switch that keeps the next one. */
function notKept({ keepRequests }: StoredFacts, decision: DecisionRecord | undefined): EvaluationNote {
  if (['sender', 'signed'].includes(String(repeatIn(decision)?.facts?.['by']))) {
    const text = 'A repeat that is recognised by what its sender sends is not judged, and not kept.';
    return { code: 'not_kept', text };
  }
  const text = isBeforeMappings(decision)
    ? 'Its content was not kept: what is refused at the door never is.'
    : `The request itself ${howToKeep(decision, keepRequests)}.`;
  return { code: 'not_kept', text };
}

function howToKeep(decision: DecisionRecord | undefined, written: StoredFacts['keepRequests']): string {
  if (decision?.keepRequests === 'none')
    return 'was not kept: the mappings of its path say keepRequests: none; remove that to keep the next one, and send it again';
  const { which = 'shapes' } = Object.keys(written).length === 0 ? {} : written;
  if (which === 'shapes' || which === 'all')
    return 'is not kept any more, or more came at once than are kept: storage.keepRequests says how many, and how long';
  // Those that were answered well are kept by "shapes" and "all" alone.
  const wanted = decision !== undefined && decision.status < 400 ? 'shapes or all' : 'shapes, failed or all';
  return `was not kept: storage.keepRequests.which is ${which}; set it to ${wanted} to keep the next one, and send it again`;
}
