/* What `debounce` did with a request: how long its run waits, whose run it joined, and what acts on the first event at once. */
import { joinSentences, say, type Sentence } from '../finding.ts';
import type { Place } from '../document/document.ts';
import { coolDownText, spanOf, unitText } from '../advice/requests.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';
import type { RunRecord } from '../storage/storage.ts';
import type { StoredRequest } from '../storage/facts.ts';

/** A request that was taken, with the mapping that took it. */
export interface Debounced {
  readonly mapping: CompiledMapping;
  readonly stored: StoredRequest;
}

type Debounce = NonNullable<CompiledMapping['debounce']>;

/** Says it of the runs that the request became; undefined where they have begun, and after no long wait. */
export function debounceNote({
  mapping,
  stored,
}: Debounced): { readonly at: Place; readonly text: Sentence; readonly isFine: boolean } | undefined {
  const { debounce } = mapping;
  const [run] = stored.runs.map((each) => each.run).toSorted((a, b) => eventsOf(b) - eventsOf(a));
  if (debounce === undefined || run === undefined) return undefined;
  const text = isWaiting(run) ? waitText(run, debounce) : gatheredText(run, debounce);
  if (text === undefined) return undefined;
  const last = eventsOf(run) > 1 ? ONLY_LAST : undefined;
  const parts = [
    joinedText(run, stored.decision?.requestId),
    text,
    unitText(mapping) ?? coolDownText(mapping),
    last,
  ];
  const sentences = parts.filter((part) => part !== undefined);
  return {
    at: debounce.key.at,
    text: joinSentences(sentences, '. '),
    isFine: unitText(mapping) === undefined,
  };
}

const eventsOf = ({ eventCount = 1 }: RunRecord): number => eventCount;
const isWaiting = ({ state, attempts }: RunRecord): boolean => state === 'queued' && attempts === 0;

/** Waits that are told of a run that has begun. */
const TOLD_WAIT = 60;

function waitText({ dueAt }: RunRecord, { seconds, maxSeconds }: Debounce): Sentence {
  const begins = new Date(dueAt).toISOString().replace(/\.\d+/, '');
  return say`the run waits until no event of its key came for ${spanOf(seconds)}, at most ${spanOf(maxSeconds)} after the first: it begins at ${begins} if no other comes`;
}

const ONLY_LAST = say`no key keeps only the last event: where only that counts, say so in instructions, or let the agent fetch what the event names by its id`;

function gatheredText(run: RunRecord, { seconds }: Debounce): Sentence | undefined {
  const count = eventsOf(run);
  if (count > 1)
    return say`it made one run of ${count} events, which began when none had come for ${spanOf(seconds)}, and reads them all, in their order`;
  return seconds < TOLD_WAIT
    ? undefined
    : say`the run began only when no other event of its key had come for ${spanOf(seconds)}`;
}

/** Of a request whose event another one had begun to gather. */
function joinedText(
  { id, action, events = [] }: RunRecord,
  requestId: string | undefined,
): Sentence | undefined {
  const at = events.findIndex(({ origin }) => origin.requestId === requestId);
  return requestId === undefined || at === -1 || action.origin.requestId === requestId
    ? undefined
    : say`this event is number ${at + 2} of run ${id}, which the request ${action.origin.requestId} began: it has no run of its own`;
}
