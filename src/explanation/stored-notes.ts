/*
 * What is said of a request that the store knows, beside what the mappings make of it now: in the words of the
 * operator's own files where it was not kept, and of how it was judged when it came where it was.
 */
import type { LoadedConfig } from '../config/config.ts';
import {
  evaluationNotes,
  settingNote,
  type EvaluationAdvice,
  type EvaluationNote,
} from '../advice/requests.ts';
import { evaluationToJson, type Evaluation } from '../hook/hook.ts';
import type { EvaluationJson, KeptTrace } from '../hook/facts.ts';
import type { StoredRequest } from '../storage/facts.ts';
import type { HookRequest } from '../request.ts';
import type { DecisionRecord } from '../storage/storage.ts';
import { reasonNotes } from './decision-reasons.ts';
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
  /** What the mappings make of it now; of a name that no mapping takes without its content. */
  readonly explained?: RequestExplanation | undefined;
}

/** Everything that is said of it in the order of the text, without the notes of its evaluation. */
export function storedNotes(facts: StoredFacts): readonly EvaluationNote[] {
  const { request, settings } = facts;
  const isKept = request !== undefined;
  const decision = withoutDebounce(facts.decision, settings);
  return [
    ...(isKept ? keptNotes({ ...facts, decision }, request) : unkeptNotes(facts, decision)),
    ...settings.filter(({ setting }) => !isKept || !TOLD_BEFORE.has(setting)).map(settingNote),
  ];
}

/** Without what the setting tells in more words. */
function withoutDebounce(
  decision: DecisionRecord | undefined,
  settings: readonly SettingNote[],
): DecisionRecord | undefined {
  const isTold = settings.some(({ setting }) => setting === 'debounce');
  return isTold && decision?.note !== undefined
    ? { ...decision, note: decision.note.replace(/(?:^|; )debounce: [^;]*/, '') }
    : decision;
}

/** Settings whose part in a kept request is told with the request. */
const TOLD_BEFORE: ReadonlySet<string> = new Set([
  'match.source',
  'forEach',
  'gateway.heartbeat.everySeconds',
  'hooks.defaults.deliver',
]);

function keptNotes(
  { decision, work, judged, explained, settings }: StoredFacts,
  request: HookRequest,
): readonly EvaluationNote[] {
  const changed =
    judged === undefined || explained === undefined
      ? []
      : changedNotes(judged, evaluationToJson(explained.evaluation));
  const isToldMore = settings.some(({ setting }) => setting === 'dedupe.key');
  const repeat = repeatNotes(decision, work);
  const note =
    repeat.length === 0 ? decision?.note : decision?.note?.replace(isToldMore ? REPEAT : IS_REPEAT, '');
  return [...repeat, ...decisionNote(note, explained?.advice), ...removedNotes(request), ...changed];
}

/** What a decision says of every repeat, by what it was recognised, and its general advice. */
const IS_REPEAT = /^a repeat, (by (?:dedupe: body|[^:])[^:]*): nothing new was made(?:; )?/;
const REPEAT =
  /^a repeat, by (?:dedupe: body|[^:])[^:]*: nothing new was made(?:; if it was a new event, [^;]*)?/;

function repeatNotes(
  decision: DecisionRecord | undefined,
  work: StoredFacts['work'],
): readonly EvaluationNote[] {
  const first = repeatedOf(decision?.requestId, work);
  if (first === undefined) return [];
  const [, how] = IS_REPEAT.exec(decision?.note ?? '') ?? [];
  const text = `a repeat of ${first.what} of request ${first.requestId}${how === undefined ? '' : `, ${how}`}: nothing new was made`;
  return [{ code: 'repeat', text }];
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

function unkeptNotes(facts: StoredFacts, decision: DecisionRecord | undefined): readonly EvaluationNote[] {
  const { explained } = facts;
  return [
    ...(decision === undefined ? [] : reasonNotes(decision)),
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

/** What only the operator is told beside the outcome, without what the advice on a kept request says again. */
function decisionNote(note = '', advice?: EvaluationAdvice): readonly EvaluationNote[] {
  const text = advice === undefined ? note : withoutAdvice(note, advice);
  return text === '' ? [] : [{ code: 'decision', text }];
}

/** A pointer to where the reader is. */
const TO_EXPLAIN = ': "sluice explain" of this request writes it';

function withoutAdvice(note: string, { notes = [], settings = [] }: EvaluationAdvice): string {
  const isTold = settings.some(({ setting }) => setting === 'ignoreSenders');
  // It stands last, and the advice on a kept request may quote more of it.
  const rest = isTold ? note.replace(/(?:^|; )ignoreSenders: .*$/s, '') : note;
  const untold = notes.reduce((left, { text }) => left.replace(text, ''), rest);
  return untold.replace(TO_EXPLAIN, '').split('; ').filter(Boolean).join('; ');
}

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
}: Pick<EvaluationJson, 'outcome' | 'mapping' | 'error'> & { readonly actions: readonly unknown[] }): string {
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
  if (/^a repeat, by the (?:header|key)/.test(decision?.note ?? '')) {
    const text = 'A repeat that is recognised by what its sender sends is not judged, and not kept.';
    return { code: 'not_kept', text };
  }
  const text = isBeforeMappings(decision)
    ? 'Its content was not kept: what is refused at the door never is.'
    : `The request itself was not kept: ${howToKeep(decision, keepRequests.which)}, and send it again.`;
  return { code: 'not_kept', text };
}

function howToKeep(decision: DecisionRecord | undefined, which: string | undefined): string {
  if (decision?.keepRequests === 'none')
    return 'the mappings of its path say keepRequests: none; remove that to keep the next one';
  const now = which === undefined ? '' : `storage.keepRequests.which is ${which}; `;
  // Those that were answered well are kept by "all" alone.
  const wanted = decision !== undefined && decision.status < 400 ? 'all' : 'failed or all';
  return `${now}set storage.keepRequests.which to ${wanted} to keep the next one`;
}
