/** Does something for many, some at a time, and says how far it is and how it ended. */
import { signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { InboxPage, ShownEnd } from '../protocol.ts';
import { getJson, isAborted, messageOf } from './api.ts';
import { follow } from './follow.tsx';
import { count, formatDate, formatTime } from './format.ts';
import { copy, say } from './toast.ts';

/** More are begun when of those before so few have not ended yet. */
const AT_ONCE = 50;
const LOOK_MS = 1_000;
const MAX_REASONS = 3;

export interface Batch {
  /** What it is done to, and what is done. */
  readonly noun: 'request' | 'run';
  readonly done: string;
  readonly ids: readonly string[];
  /** Does it for some; resolves to the runs and events to wait for, and why some became none. */
  begin(
    ids: readonly string[],
  ): Promise<{ readonly work: readonly string[]; readonly refused: readonly string[] }>;
  /** The address of the list that shows them, from when it began. */
  linkOf(from: number): string;
}

const isOpen = ({ end }: ShownEnd): boolean => ['queued', 'running', 'sending'].includes(end);

/** What is done, or was done last: it goes on whatever view is shown. */
const batch = signal<Batch | undefined>(undefined);
const isUnderWay = signal(false);

/** Begins it, where nothing else is under way. */
export function begin(next: Batch): void {
  if (isUnderWay.peek()) return say('something is under way: stop it, or wait for it');
  isUnderWay.value = true;
  batch.value = next;
}

/** Stands above every view. */
export function BatchProgress(): JSX.Element {
  const shown = batch.value;
  return <div>{shown !== undefined && <Progress key={shown.ids.join()} batch={shown} />}</div>;
}

function Progress({ batch: { ids, noun, done, ...made } }: { readonly batch: Batch }): JSX.Element {
  const begun = useSignal(0);
  const open = useSignal<readonly string[]>([]);
  const well = useSignal(0);
  const failed = useSignal<readonly string[]>([]);
  const isStopped = useSignal(false);
  const problem = useSignal('');
  const from = useSignal(Date.now()).peek();
  const isOver = (): boolean => (begun.value === ids.length || isStopped.value) && open.value.length === 0;
  const look = async (signal: AbortSignal): Promise<number> => {
    try {
      if (!isStopped.peek() && begun.peek() < ids.length && open.peek().length < AT_ONCE) {
        const left = ids.slice(begun.peek());
        // The last part is no small one: a run alone would go before limits, and begin although it was denied.
        const some = left.length < 2 * AT_ONCE ? left : left.slice(0, AT_ONCE);
        const { work, refused } = await made.begin(some);
        begun.value += some.length;
        open.value = [...open.peek(), ...work];
        failed.value = [...failed.peek(), ...refused];
      }
      const asked = open.peek().slice(0, 4 * AT_ONCE);
      const query = new URLSearchParams({ limit: '1', ids: asked.join() }).toString();
      const { ends } = await getJson<InboxPage>(`/api/inbox?${query}`, signal);
      const still = new Set(ends.filter(isOpen).map(({ id }) => id));
      const bad = ends.filter(({ end }) => ['failed', 'dead', 'dropped', 'unsent'].includes(end));
      open.value = [...open.peek().slice(asked.length), ...asked.filter((id) => still.has(id))];
      failed.value = [...failed.peek(), ...bad.map(({ end, why = end }) => why)];
      well.value += asked.length - still.size - bad.length;
      problem.value = '';
    } catch (error) {
      if (isAborted(error)) return 0;
      problem.value = messageOf(error);
    }
    if (isOver()) isUnderWay.value = false;
    return isOver() ? 0 : LOOK_MS;
  };
  useEffect(() => follow(look), []);
  const reasons = [...new Set(failed.value)].slice(0, MAX_REASONS).join(', ');
  const left =
    isOver() && begun.value < ids.length ? `; ${ids.length - begun.value} were left as they were` : '';
  const why = failed.value.length === 0 ? '' : `, ${failed.value.length} failed: ${reasons}`;
  const said = `${count(begun.value, noun)} ${done} at ${formatTime(from)}: ${well.value} ended well${why}${left}`;
  const link = location.origin + made.linkOf(from);
  return (
    <div class="progress" role="group" aria-label="Progress">
      {!isOver() && <progress aria-label={done} max={ids.length} value={begun.value - open.value.length} />}
      <p role="status">
        {isOver()
          ? `${said}.`
          : `${said}; ${open.value.length} under way. It goes on while this page is open.`}
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
          <button type="button" disabled={isStopped.value} onClick={() => (isStopped.value = true)}>
            Stop
          </button>
        )}
      </p>
    </div>
  );
}
