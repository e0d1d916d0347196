/** Shows what came in time: a bar for each interval, with when the service started and its files changed. */
import type { JSX } from 'preact';
import type { InboxRow, Overview } from '../protocol.ts';
import { clock, count, dayOf, formatDay, formatTime } from './format.ts';
import { filters, isLoaded, NO_FILTERS, rows, timeOf } from './inbox-store.ts';
import { PauseButtons } from './operations.tsx';
import { ShownText } from './shown-text.tsx';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Bars begin at the same times of every day. */
const STEPS = [5, 10, 30, 60, 120, 180, 360, 720].map((minutes) => minutes * MINUTE_MS);
const MAX_BARS = 48;
const MAX_MARKS = 5;

interface Bar {
  readonly from: number;
  readonly to: number;
  readonly all: number;
  readonly refused: number;
}

/** Returns bars from the oldest row to now, with those in which nothing came. */
function barsOf(list: readonly Pick<InboxRow, 'at' | 'outcome'>[], now: number): readonly Bar[] {
  const oldest = list.at(-1)?.at ?? now;
  const step = STEPS.find((ms) => (now - oldest) / ms < MAX_BARS - 1) ?? DAY_MS;
  const day = dayOf(now);
  const startOf = (at: number): number => day + Math.floor((at - day) / step) * step;
  const [first, last] = [Math.max(startOf(oldest), startOf(now) - (MAX_BARS - 1) * step), startOf(now)];
  const counts = new Map<number, { all: number; refused: number }>();
  for (let from = first; from <= last; from += step) counts.set(from, { all: 0, refused: 0 });
  for (const { at, outcome } of list) {
    const bar = counts.get(startOf(at));
    if (bar === undefined) continue;
    bar.all += 1;
    if (outcome === 'rejected') bar.refused += 1;
  }
  return [...counts].map(([from, bar]) => ({ from, to: from + step, ...bar }));
}

export function History({ marks }: Pick<Overview, 'marks'>): JSX.Element {
  const list = rows.value;
  const bars = barsOf(list, Math.max(clock.value, list[0]?.at ?? 0));
  const [first] = bars;
  if (list.length === 0 || first === undefined)
    return <p class="quiet">{isLoaded.value ? 'No request has come yet.' : 'Loading what came…'}</p>;
  const most = Math.max(...bars.map(({ all }) => all));
  const seen = marks.filter(({ at }) => at >= first.from);
  return (
    <section>
      <h2>
        {count(list.length, 'request')} since {formatDay(first.from)}{' '}
        <span class="quiet small">
          at most {count(most, 'request')} in {stepText(first.to - first.from)}; choose a bar to list them
        </span>
      </h2>
      <div class="history" role="group" aria-label="Requests in time">
        {bars.map((bar, index) => (
          <BarButton
            key={bar.from}
            bar={bar}
            most={most}
            isNamed={index % Math.ceil(bars.length / 8) === 0}
            hasMark={seen.some(({ at }) => at >= bar.from && at < bar.to)}
          />
        ))}
      </div>
      <ul class="small quiet">
        {seen.slice(0, MAX_MARKS).map(({ at, what, about, source }) => (
          <li key={at}>
            ▲ {formatDay(at)} {formatTime(at)}{' '}
            {what === 'start' ? 'the service started with' : 'the files changed to'} {about}, on{' '}
            <ShownText text={source} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const stepText = (ms: number): string =>
  ms < HOUR_MS ? count(ms / MINUTE_MS, 'minute') : count(ms / HOUR_MS, 'hour');

function BarButton(props: {
  readonly bar: Bar;
  readonly most: number;
  readonly isNamed: boolean;
  readonly hasMark: boolean;
}): JSX.Element {
  const { bar, most, isNamed, hasMark } = props;
  const { from, to, all, refused } = bar;
  const time = timeOf(from, to);
  const part = (some: number): { readonly height: string } => ({ height: `${(100 * some) / most}%` });
  const name = dayOf(from) === from ? formatDay(from).replace(/,.*/, '') : formatTime(from).slice(0, 5);
  const said = `${formatDay(from)} ${formatTime(from).slice(0, 5)} to ${formatTime(to).slice(0, 5)}: ${count(all, 'request')}, ${refused} refused`;
  return (
    <button
      type="button"
      class="bar-of"
      title={said}
      aria-label={said + (hasMark ? '; the service started or its files changed' : '')}
      aria-pressed={filters.value.time === time}
      onClick={() => (filters.value = { ...NO_FILTERS, time })}
    >
      <span class="space" aria-hidden="true">
        <span class="all" style={part(all - refused)} />
        <span class="rejected" style={part(refused)} />
      </span>
      <span class="axis" aria-hidden="true">
        {hasMark ? '▲' : ''}
        {isNamed && <span>{name}</span>}
      </span>
    </button>
  );
}

const RECENT_MS = 10 * MINUTE_MS;
/** A path floods that has so many in that time, and so many times as many as before. */
const MANY = 100;
const TIMES = 5;

interface FloodedPath {
  readonly path: string;
  readonly count: number;
  readonly usualInHour: number;
  readonly mapping?: string | undefined;
  readonly query: string;
}

/** Returns the path of which far more has come lately than before. */
export function findFlood(list: readonly InboxRow[]): FloodedPath | undefined {
  const [newest, oldest] = [list[0], list.at(-1)];
  if (newest === undefined || oldest === undefined || newest.at - oldest.at < 2 * RECENT_MS) return undefined;
  const from = newest.at - RECENT_MS;
  const counts = new Map<string, { recent: number; before: number; mapping?: string | undefined }>();
  for (const { path, at, mapping } of list) {
    const known = counts.get(path) ?? { recent: 0, before: 0, mapping };
    known[at >= from ? 'recent' : 'before'] += 1;
    counts.set(path, known);
  }
  const windows = (from - oldest.at) / RECENT_MS;
  const [first] = [...counts].toSorted(([, a], [, b]) => b.recent - a.recent);
  if (first === undefined) return undefined;
  const [path, { recent, before, mapping }] = first;
  if (recent < MANY || recent < (TIMES * before) / windows) return undefined;
  const query = new URLSearchParams({ path, time: timeOf(from, newest.at + HOUR_MS) }).toString();
  const usualInHour = Math.round((before / windows) * (HOUR_MS / RECENT_MS));
  return { path, count: recent, usualInHour, mapping, query };
}

export function Flood({ flood }: { readonly flood: FloodedPath }): JSX.Element {
  const { path, mapping, query, usualInHour } = flood;
  return (
    <li>
      <p>
        <b>{flood.count.toLocaleString('en')} × </b>
        <ShownText text={path} /> in 10 minutes: far more than before, when {count(usualInHour, 'request')}{' '}
        came in an hour
      </p>
      <div class="actions">
        <a href={`/?${query}`}>Show these</a>
        {mapping !== undefined && <PauseButtons of={{ mapping }} whats={['pause']} />}
      </div>
    </li>
  );
}
