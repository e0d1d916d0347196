/** Does something for many, some at a time, and says how far it is and how it ended. */
import { signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { InboxPage, ShownEnd } from '../protocol.ts';
import { getJson, isAborted, isPassing, messageOf } from './api.ts';
import { follow } from './follow.tsx';
import { count, formatDate, formatTime } from './format.ts';
import { copy, say } from './toast.ts';

/** More are begun when of those before so few have not ended yet. */
const AT_ONCE = 50;
const LOOK_MS = 1_000;
const MAX_REASONS = 3;

export interface Batch {
  /** What it is done to, one and many, and what is done. */
  readonly nouns: readonly [one: string, many: string];
  readonly done: string;
  /** What it is done to goes on until it ends. */
  readonly hasEnds: boolean;
  readonly ids: readonly string[];
  /** Does it for some; resolves to the runs and events to wait for, and why some became none. */
  begin(
    ids: readonly string[],
  ): Promise<{ readonly work: readonly string[]; readonly refused: readonly string[] }>;
  /** The address of the list that shows them, from when it began. */
  linkOf(from: number): string;
}

const isOpen = ({ end }: ShownEnd): boolean => ['queued', 'running', 'sending'].includes(end);

/** What is done, or was done last, and when it began: it goes on whatever view is shown. */
const batch = signal<(Batch & { readonly from: number }) | undefined>(undefined);
const isUnderWay = signal(false);

/** Begins it, where nothing else is under way. */
export function begin(next: Batch): void {
  if (isUnderWay.peek()) return say('something is under way: stop it, or wait for it');
  isUnderWay.value = true;
  batch.value = { ...next, from: Date.now() };
}

/** Stands above every view. */
export function BatchProgress(): JSX.Element {
  const shown = batch.value;
  return <div>{shown !== undefined && <Progress key={shown.from} of={shown} />}</div>;
}

function Progress({
  of: { ids, nouns, done, hasEnds, from, ...made },
}: {
  readonly of: Batch & { readonly from: number };
}): JSX.Element {
  const begun = useSignal(0);
  const open = useSignal<readonly string[]>([]);
  const well = useSignal(0);
  const failed = useSignal<readonly string[]>([]);
  const isStopped = useSignal(false);
  const problem = useSignal('');
  const isLost = useSignal(false);
  /** What is under way when it is stopped goes on to its end. */
  const isOver = (): boolean =>
    isLost.value || (open.value.length === 0 && (isStopped.value || begun.value === ids.length));
  const beginMore = async (): Promise<void> => {
    const rest = ids.slice(begun.peek());
    if (rest.length === 0 || open.peek().length >= AT_ONCE) return;
    // The last part is no small one: a run alone would go before limits, and begin although it was denied.
    const some = rest.length < 2 * AT_ONCE ? rest : rest.slice(0, AT_ONCE);
    const { work, refused } = await made.begin(some);
    begun.value += some.length;
    open.value = [...open.peek(), ...work];
    failed.value = [...failed.peek(), ...refused];
  };
  const look = async (signal: AbortSignal): Promise<number> => {
    try {
      if (!isStopped.peek()) await beginMore();
      const asked = open.peek().slice(0, 4 * AT_ONCE);
      const query = new URLSearchParams({ limit: '1', ids: asked.join() }).toString();
      const { ends } = await getJson<InboxPage>(`/api/inbox?${query}`, signal);
      const still = new Set(ends.filter(isOpen).map(({ id }) => id));
      const done = ends.filter(({ end }) => end === 'done');
      const others = ends.filter(({ id, end }) => !still.has(id) && end !== 'done');
      const gone = Array.from({ length: asked.length - ends.length }, () => 'no end is known');
      open.value = [...open.peek().slice(asked.length), ...asked.filter((id) => still.has(id))];
      failed.value = [...failed.peek(), ...others.map(({ end, why = end }) => why), ...gone];
      well.value += done.length;
      problem.value = '';
    } catch (error) {
      if (isAborted(error)) return 0;
      problem.value = messageOf(error);
      if (!isPassing(error)) isLost.value = true;
    }
    isUnderWay.value = !isOver() && !isStopped.peek();
    return isOver() ? 0 : LOOK_MS;
  };
  useEffect(() => follow(look, () => false), []);
  const reasons = [...new Set(failed.value)].slice(0, MAX_REASONS).join(', ');
  const left = ids.length - begun.value;
  const said = [
    isOver() ? count(begun.value, ...nouns) : `${begun.value} of ${count(ids.length, ...nouns)}`,
    ` ${done} at ${formatTime(from)}`,
    hasEnds && `: ${well.value} ended well`,
    failed.value.length > 0 && `, ${failed.value.length} ${hasEnds ? 'did' : 'were'} not: ${reasons}`,
    open.value.length > 0 && `, ${open.value.length} under way`,
    isOver() && left > 0 && `; ${left} were left as they were`,
  ]
    .filter(Boolean)
    .join('');
  const link = location.origin + made.linkOf(from);
  return (
    <div class="progress" role="group" aria-label="Progress">
      {!isOver() && <progress aria-label={done} max={ids.length} value={begun.value - open.value.length} />}
      <p role="status">
        {said}.
        {!isOver() &&
          (isStopped.value
            ? ' Stopped: what is under way goes on to its end.'
            : ' It goes on while this page is open.')}
      </p>
      {problem.value !== '' && <p role="alert">{problem.value}</p>}
      <p class="actions">
        {isOver() ? (
          <>
            <button
              type="button"
              onClick={() => copy(`${said} (${formatDate(from)}) ${link}`, 'the sentence')}
            >
              Copy the sentence with its link
            </button>
            <a href={link}>Show them</a>
            <button type="button" class="link" onClick={() => (batch.value = undefined)}>
              Close
            </button>
          </>
        ) : (
          !isStopped.value && (
            <button type="button" onClick={() => (isStopped.value = true)}>
              Stop
            </button>
          )
        )}
      </p>
    </div>
  );
}
