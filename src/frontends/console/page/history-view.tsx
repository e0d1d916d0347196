/** Shows what came in time: a bar for each interval, with when the service started and its files changed. */
import type { JSX } from 'preact';
import type { InboxRow, Overview } from '../protocol.ts';
import { clock, count, dayOf, formatDay, formatMinute, formatTime } from './format.ts';
import { filters, FIRST_ROWS, listHas, NO_FILTERS, rows, timeOf } from './inbox-store.ts';
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
  // The first rows alone would be one bar.
  if (listHas.value === 'some' && list.length <= FIRST_ROWS) return <p class="quiet">Loading what came…</p>;
  if (list.length === 0 || first === undefined) return <p class="quiet">No request has come yet.</p>;
  const most = Math.max(...bars.map(({ all }) => all));
  const step = first.to - first.from;
  const midnight = dayOf(first.to);
  // A narrow page has space for few names; each day has its own.
  const least = Math.ceil(bars.length / (innerWidth < 700 ? 4 : 8));
  const every = [1, 2, 3, 4, 6, 8, 12, 24].find((n) => n >= least && (DAY_MS / step) % n === 0) ?? least;
  const seen = marks.filter(({ at }) => at >= first.from);
  return (
    <section>
      <h2>
        {count(list.length, 'request')} since {formatDay(first.from)}{' '}
        <span class="quiet small">
          at most {count(most, 'request')} in {stepText(step)}; choose a bar to list them
        </span>
      </h2>
      <div class="history" role="group" aria-label="Requests in time">
        {bars.map((bar) => (
          <BarButton
            key={bar.from}
            bar={bar}
            most={most}
            isNamed={Math.round((bar.from - midnight) / step) % every === 0}
            hasMark={seen.some(({ at }) => at >= bar.from && at < bar.to)}
          />
        ))}
      </div>
      <ul class="small quiet">
        {seen.slice(0, MAX_MARKS).map(({ at, what, about, source, who }) => (
          <li key={at}>
            ▲ {formatMinute(at)}{' '}
            <ShownText
              text={
                what === 'start'
                  ? `the service started with the files ${about}, on ${source}`
                  : `the files ${about} went live, by ${who}, on ${source}`
              }
            />
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
  const said = `${formatMinute(from)} to ${formatTime(to).slice(0, 5)}: ${count(all, 'request')}, ${refused} refused`;
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
