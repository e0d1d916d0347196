import type { JSX } from 'preact';
import type { InboxRow } from '../protocol.ts';

/** Status and outcome: a colour, and always the words, too. */
export function OutcomeLabel({ row }: { readonly row: Pick<InboxRow, 'status' | 'outcome'> }): JSX.Element {
  return (
    <span class={`outcome ${row.outcome}`}>
      <span class="dot" aria-hidden="true" />
      {row.status} {row.outcome}
    </span>
  );
}

/** The state of a run, a delivery or an event. */
export function StateLabel({ state }: { readonly state: string }): JSX.Element {
  return (
    <span class={`outcome ${TONES[state] ?? 'skipped'}`}>
      <span class="dot" aria-hidden="true" />
      {state}
    </span>
  );
}

const TONES: Readonly<Record<string, string>> = {
  completed: 'accepted',
  ok: 'accepted',
  forwarded: 'accepted',
  consumed: 'accepted',
  true: 'accepted',
  active: 'waiting',
  queued: 'waiting',
  pending: 'waiting',
  claimed: 'waiting',
  unknown: 'waiting',
  timeout: 'waiting',
  dead: 'rejected',
  error: 'rejected',
  false: 'rejected',
};
