/** Looks at what the service has, again and again while the page is seen. */
import { useSignal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { getJson, isAborted, isPassing, messageOf } from './api.ts';

/** What could not be read is tried again after this time. */
const RETRY_MS = 2_000;

/**
 * Looks now, and again as many milliseconds after each look as it says; never where it says 0. Returns how to end it.
 * A page that nobody sees leaves the service to others, and looks at once when it is seen again.
 */
export function follow(
  look: (signal: AbortSignal) => Promise<number>,
  isLeft = (): boolean => document.hidden,
): () => void {
  const leaving = new AbortController();
  const { signal } = leaving;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLooking = false;
  const again = async (): Promise<void> => {
    if (isLooking || isLeft()) return;
    clearTimeout(timer);
    isLooking = true;
    const ms = await look(signal);
    isLooking = false;
    if (ms > 0 && !signal.aborted) timer = setTimeout(() => void again(), ms);
  };
  document.addEventListener('visibilitychange', () => void again(), { signal });
  void again();
  return () => {
    leaving.abort();
    clearTimeout(timer);
  };
}

export interface Followed<Answer> {
  readonly answer: Signal<Answer | undefined>;
  /** Why there is no answer, or only an older one; empty where all is well. */
  readonly problem: Signal<string>;
  readonly again: () => void;
}

/**
 * Reads an address anew as often as `every` says of its answer, in milliseconds, and where one of `on` has changed. A
 * component with another address is another one, by its `key`.
 */
export function useAnswer<Answer>(
  address: string,
  every: (answer: Answer) => number,
  on: readonly unknown[] = [],
): Followed<Answer> {
  const answer = useSignal<Answer | undefined>(undefined);
  const problem = useSignal('');
  const asked = useSignal(0);
  const look = async (signal: AbortSignal): Promise<number> => {
    try {
      const found = await getJson<Answer>(address, signal);
      answer.value = found;
      problem.value = '';
      return every(found);
    } catch (error) {
      if (isAborted(error)) return 0;
      problem.value = messageOf(error);
      return isPassing(error) ? RETRY_MS : 0;
    }
  };
  useEffect(() => follow(look), [asked.value, ...on]);
  return { answer, problem, again: () => (asked.value += 1) };
}

/** Stands in place of what is not there yet, or cannot be read. */
export function Wait({ problem }: { readonly problem: string }): JSX.Element {
  return problem === '' ? (
    <p class="empty quiet" role="status">
      Loading…
    </p>
  ) : (
    <p class="empty" role="alert">
      {problem}
    </p>
  );
}
