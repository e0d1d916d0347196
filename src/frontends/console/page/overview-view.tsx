/** Shows what came, how it ended, and what stands in the way, while no request is chosen. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Cause, InboxRow, Overview } from '../protocol.ts';
import { getJson, messageOf, postJson } from './api.ts';
import { clock, count, formatAgo, formatDate } from './format.ts';
import { mayOperate, rows } from './inbox-store.ts';
import { PauseButtons } from './operations.tsx';
import { ShownText } from './shown-text.tsx';
import { say } from './toast.ts';

const LOOK_MS = 5_000;
const BARS = 24;

/** Looks now and again; what fails is looked at again. Returns how to end it. */
function repeat(look: () => Promise<void>): () => void {
  const again = (): void => void look().catch(() => undefined);
  again();
  const timer = setInterval(() => document.hidden || again(), LOOK_MS);
  return () => clearInterval(timer);
}

export function OverviewView(): JSX.Element {
  const found = useSignal<Overview | undefined>(undefined);
  useEffect(() => repeat(async () => void (found.value = await getJson<Overview>('/api/overview'))), []);
  return (
    <article class="request overview">
      <h1 tabIndex={-1}>Overview</h1>
      <Causes />
      {found.value !== undefined && <Work found={found.value} />}
      {found.value !== undefined && found.value.recoveries.length > 0 && <Recoveries of={found.value} />}
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

/** What senders could not deliver, a row for each path. */
function Recoveries({ of: { recoveries } }: { readonly of: Overview }): JSX.Element {
  return (
    <section>
      <h2>Recovery</h2>
      <ul>
        {recoveries.map(({ path, lookedAt, missed, came, gaveUp, trouble }) => (
          <li key={path} class={trouble === undefined ? '' : 'note'}>
            <a href={`/?${new URLSearchParams({ path }).toString()}`}>{path}</a>{' '}
            {lookedAt === 0 ? 'not looked at yet' : `looked at ${formatAgo(lookedAt)}`}: {missed} missed,{' '}
            {came} came, {gaveUp} given up
            {trouble !== undefined && (
              <>
                {' — '}
                <ShownText text={trouble} />
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Shows what somebody has to look at, by its cause: the newest and steepest first, and what is meant to be so last. */
function Causes(): JSX.Element {
  const found = useSignal<readonly Cause[] | undefined>(undefined);
  const look = async (): Promise<void> => {
    const { causes } = await getJson<{ readonly causes: readonly Cause[] }>('/api/causes');
    found.value = causes;
  };
  useEffect(() => repeat(look), []);
  if (found.value === undefined) return <p class="quiet">Looking for what needs attention…</p>;
  const open = found.value.filter(({ aside }) => aside === undefined);
  const aside = found.value.filter((cause) => cause.aside !== undefined);
  if (found.value.length === 0) return <p class="quiet">Nothing needs attention.</p>;
  return (
    <section>
      <h2>{count(open.length, 'cause needs', 'causes need')} attention</h2>
      <ul class="causes">
        {open.map((cause) => (
          <CauseRow key={cause.id} cause={cause} onChanged={look} />
        ))}
      </ul>
      {aside.length > 0 && (
        <details>
          <summary>{count(aside.length, 'cause is', 'causes are')} meant to be so</summary>
          <ul class="causes">
            {aside.map((cause) => (
              <CauseRow key={cause.id} cause={cause} onChanged={look} />
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** The list in which somebody changes all of a cause. */
function listOf({ kind, path = '', mappingId = '' }: Cause): readonly [href: string, label: string] {
  if (kind === 'request')
    return [`/?${new URLSearchParams({ path, outcome: 'rejected' }).toString()}`, 'Show and replay these'];
  const of = new URLSearchParams({ mapping: mappingId }).toString();
  return kind === 'delivery'
    ? [`/deliveries?state=dead&${of}`, 'Show and retry these']
    : [`/runs?${of}`, 'Show these runs'];
}

function CauseRow({ cause, onChanged }: { readonly cause: Cause; onChanged(): Promise<void> }): JSX.Element {
  const { id, says, since, lastAt, before, example, aside } = cause;
  const [href, label] = listOf(cause);
  const meant = async (): Promise<void> => {
    const reason = prompt('Why is it meant to be so? It comes back when as many have come again.')?.trim();
    if (reason) await postJson('/api/aside', { id, count: cause.count, reason }).then(onChanged, failed);
  };
  return (
    <li>
      <p>
        <b>{cause.count.toLocaleString('en')} ×</b> <ShownText text={says} />
      </p>
      <p class="quiet small">
        since {formatDate(since)}
        {before > 0 && `, before that ${before.toLocaleString('en')}`}, last {formatAgo(lastAt)}
        {aside !== undefined && ` — ${aside.who}: ${aside.reason}`}
      </p>
      <p>
        <a href={`/request/${example}`}>Open one</a> <a href={href}>{label}</a>{' '}
        {mayOperate.value && aside === undefined && (
          <button type="button" class="link" onClick={() => void meant()}>
            Meant to be so…
          </button>
        )}
      </p>
    </li>
  );
}

const failed = (error: unknown): void => say(messageOf(error));

/** The charts run from the first request in the list to now. */
function Charts(): JSX.Element | null {
  const list = rows.value;
  const oldest = list.at(-1)?.at;
  if (oldest === undefined) return null;
  const now = Math.max(clock.value, list[0]?.at ?? 0);
  const step = Math.max((now - oldest) / BARS, 60_000);
  const bars: InboxRow[][] = Array.from({ length: BARS }, () => []);
  for (const row of list) bars.at(Math.max(0, BARS - 1 - Math.floor((now - row.at) / step)))?.push(row);
  const isBad = ({ outcome }: InboxRow): boolean => outcome === 'rejected';
  const minutes = Math.round(step / 60_000);
  return (
    <section>
      <h2>
        Since {formatAgo(oldest)} <span class="quiet small">a bar is {count(minutes, 'minute')}</span>
      </h2>
      <div class="charts">
        <Bars title="Requests" tone="all" values={bars.map(({ length }) => length)} />
        <Bars title="Refused" tone="rejected" values={bars.map((bar) => bar.filter(isBad).length)} />
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
