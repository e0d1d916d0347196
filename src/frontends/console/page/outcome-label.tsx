import type { JSX } from 'preact';
import type { InboxRow, ShownEnd } from '../protocol.ts';
import { endOf } from './inbox-store.ts';
import { formatTime } from './format.ts';

/** Shows how a request ended, in a colour and always in words, too. */
export function OutcomeLabel({ row }: { readonly row: InboxRow }): JSX.Element {
  const [tone, text] = endWords(row);
  return <Label tone={tone} text={text} title={`answered ${row.status} ${row.outcome}`} />;
}

function endWords(row: InboxRow): readonly [tone: string, words: string] {
  if (row.isRepeat === true) return ['skipped', 'repeat'];
  const ended = endOf(row);
  if (ended === undefined) return [row.outcome, `${row.status || ''} ${row.outcome}`.trim()];
  const { end, why } = ended;
  const [tone, words] = ENDS[end];
  if ((end !== 'queued' && end !== 'running') || why === undefined) return [tone, words];
  const at = Date.parse(why);
  return [tone, `${words}: ${Number.isNaN(at) ? why : `next try ${formatTime(at)}`}`];
}

/** Shows words in a colour; `title` says more. */
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

const ENDS: Readonly<Record<ShownEnd['end'], readonly [tone: string, words: string]>> = {
  done: ['accepted', 'done'],
  running: ['waiting', 'running'],
  queued: ['waiting', 'queued'],
  sending: ['waiting', 'ran, not sent yet'],
  dropped: ['skipped', 'dropped'],
  skipped: ['skipped', 'skipped'],
  unsent: ['rejected', 'not delivered'],
  failed: ['rejected', 'failed'],
  dead: ['rejected', 'dead'],
};

const TONES: readonly (readonly [tone: string, states: string])[] = [
  ['accepted', 'completed ok forwarded consumed true'],
  ['waiting', 'active queued pending claimed unknown timeout'],
  ['rejected', 'dead error false'],
];

/** Shows the state of a run, a delivery or an event. */
export function StateLabel({ state }: { readonly state: string }): JSX.Element {
  const [tone = 'skipped'] = TONES.find(([, states]) => states.split(' ').includes(state)) ?? [];
  return <Label tone={tone} text={state} />;
}
