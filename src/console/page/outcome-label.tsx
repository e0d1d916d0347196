import type { JSX } from 'preact';
import type { InboxRow, ShownEnd } from '../protocol.ts';
import { endOf } from './ends-store.ts';
import { formatTime } from './format.ts';

/** How a request ended: a colour, and always the words, too. */
export function OutcomeLabel({ row }: { readonly row: InboxRow }): JSX.Element {
  const end = row.isRepeat === true ? undefined : endOf(row);
  const { tone, text } =
    row.isRepeat === true
      ? { tone: 'skipped', text: 'repeat' }
      : end === undefined
        ? { tone: row.outcome, text: `${row.status} ${row.outcome}` }
        : wordsOf(end);
  return <Label tone={tone} text={text} title={`answered ${row.status} ${row.outcome}`} />;
}

/** Words in a colour; `title` says more. */
export function Label(props: {
  readonly tone: string;
  readonly text: string;
  readonly title?: string;
}): JSX.Element {
  return (
    <span class={`outcome ${props.tone}`} title={props.title}>
      <span class="dot" aria-hidden="true" />
      {props.text}
    </span>
  );
}

function wordsOf({ end, why }: ShownEnd): { readonly tone: string; readonly text: string } {
  const [tone, words] = ENDS[end];
  if (end === 'queued' && why !== undefined) {
    const at = Date.parse(why);
    return { tone, text: `${words}: ${Number.isNaN(at) ? why : `next try ${formatTime(at)}`}` };
  }
  return { tone, text: words };
}

const ENDS: Readonly<Record<ShownEnd['end'], readonly [tone: string, words: string]>> = {
  done: ['accepted', 'done'],
  running: ['waiting', 'running'],
  queued: ['waiting', 'queued'],
  sending: ['waiting', 'ran, not sent yet'],
  dropped: ['skipped', 'dropped'],
  unsent: ['rejected', 'not delivered'],
  failed: ['rejected', 'failed'],
  dead: ['rejected', 'dead'],
};

/** The state of a run, a delivery or an event. */
export function StateLabel({ state }: { readonly state: string }): JSX.Element {
  return <Label tone={TONES[state] ?? 'skipped'} text={state} />;
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
