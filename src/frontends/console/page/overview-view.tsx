/** Shows what came, how it ended, and what stands in the way, while no request is chosen. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { InboxRow, Overview, ShownEnd } from '../protocol.ts';
import { getJson } from './api.ts';
import { inNeed, need, needsAttention } from './ends-store.ts';
import { clock, count, formatAgo } from './format.ts';
import { filters, listHas, rows } from './inbox-store.ts';
import { PauseButtons } from './operations.tsx';
import { ShownText } from './shown-text.tsx';

const LOOK_MS = 5_000;
const BARS = 24;

export function OverviewView(): JSX.Element {
  const found = useSignal<Overview | undefined>(undefined);
  useEffect(() => {
    const look = (): void =>
      void getJson<Overview>('/api/overview').then(
        (value) => (found.value = value),
        () => undefined,
      );
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <article class="request overview">
      <h1 tabIndex={-1}>Overview</h1>
      <Need />
      {found.value !== undefined && <Work found={found.value} />}
      <Charts />
    </article>
  );
}

function Work({ found }: { readonly found: Overview }): JSX.Element {
  const { backlog } = found;
  return (
    <section>
      <h2>Work</h2>
      <p>
        {count(backlog.activeRuns, 'run')} under way, {backlog.queuedRuns} queued, {backlog.deadRuns} dead;{' '}
        {count(backlog.activeOutbox, 'delivery', 'deliveries')} under way, {backlog.queuedOutbox} waiting,{' '}
        {backlog.deadOutbox} given up
      </p>
      <ul>
        {found.obstacles.map(({ text, paused }) => (
          <li key={text} class="note">
            <ShownText text={text} />{' '}
            {paused !== undefined && <PauseButtons of={paused} whats={['resume']} />}
          </li>
        ))}
      </ul>
      <p>
        All runs: <PauseButtons of={{}} />
      </p>
    </section>
  );
}

/**
 * Says what somebody has to look at, in the list and in all that is stored. Nothing is shown before all of it is known.
 */
function Need(): JSX.Element {
  const all = need.value;
  if (all === undefined || listHas.value === 'some')
    return <p class="quiet">Looking for what needs attention…</p>;
  const listed = inNeed.value.length;
  const of = (wanted: ShownEnd['end']): number => all.ends.filter(({ end }) => end === wanted).length;
  const stored = [
    `${count(of('failed'), 'run')} failed`,
    `${of('dead')} given up`,
    `${count(of('unsent'), 'delivery', 'deliveries')} not sent`,
  ];
  if (listed === 0 && all.ends.length === 0) return <p class="quiet">Nothing needs attention.</p>;
  return (
    <>
      {listed > 0 && (
        <p>
          {count(listed, 'request needs', 'requests need')} attention
          {listHas.value === 'newest' && ' of the newest in the list'}.{' '}
          <button
            type="button"
            class="link"
            onClick={() => (filters.value = { ...filters.value, need: 'yes' })}
          >
            Show them in the list
          </button>
        </p>
      )}
      {all.ends.length > 0 && (
        <p>
          {all.isWhole ? 'In all' : 'At least'} {stored.join(', ')}: <a href="/runs?state=completed">ended</a>
          , <a href="/runs?state=dead">given up</a>, <a href="/deliveries?state=dead">not sent</a>.
        </p>
      )}
    </>
  );
}

/** The charts run from the first request in the list to now. */
function Charts(): JSX.Element | null {
  const list = rows.value;
  const oldest = list.at(-1)?.at;
  if (oldest === undefined) return null;
  const now = Math.max(clock.value, list[0]?.at ?? 0);
  const step = Math.max((now - oldest) / BARS, 60_000);
  const bars: InboxRow[][] = Array.from({ length: BARS }, () => []);
  for (const row of list) bars.at(Math.max(0, BARS - 1 - Math.floor((now - row.at) / step)))?.push(row);
  const isWhole = need.value?.isWhole === true;
  const isBad = (row: InboxRow): boolean => row.outcome === 'rejected' || (isWhole && needsAttention(row));
  const minutes = Math.round(step / 60_000);
  return (
    <section>
      <h2>
        Since {formatAgo(oldest)} <span class="quiet small">a bar is {count(minutes, 'minute')}</span>
      </h2>
      <div class="charts">
        <Bars title="Requests" tone="all" values={bars.map(({ length }) => length)} />
        <Bars
          title={isWhole ? 'Failed, refused or lost' : 'Refused'}
          tone="rejected"
          values={bars.map((bar) => bar.filter(isBad).length)}
        />
      </div>
    </section>
  );
}

function Bars(props: {
  readonly title: string;
  readonly tone: string;
  readonly values: readonly number[];
}): JSX.Element {
  const { title, tone, values } = props;
  const top = Math.max(...values);
  const said = `at most ${top.toLocaleString('en')}`;
  return (
    <figure>
      <figcaption class="small">
        {title} <span class="quiet">{said}</span>
      </figcaption>
      <svg
        class="chart"
        viewBox={`0 0 ${BARS * 10} 60`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${said}`}
      >
        {values.map((value, index) => {
          const height = top === 0 ? 0 : (58 * value) / top;
          return <rect class={tone} width="8" x={index * 10 + 1} y={60 - height} height={height} />;
        })}
      </svg>
    </figure>
  );
}
