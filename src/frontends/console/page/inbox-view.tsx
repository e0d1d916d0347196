/** Shows the list of requests. Only the rows in sight are rendered, so that ten thousand cost as little as fifty. */
import { signal, useComputed } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { InboxRow } from '../protocol.ts';
import { Choice } from './choice.tsx';
import { Wait } from './follow.tsx';
import {
  dayOf,
  formatAgo,
  formatBytes,
  formatDate,
  formatDay,
  formatMinute,
  formatMs,
  formatTime,
} from './format.ts';
import {
  filterQuery,
  filters,
  foundRows,
  hookNames,
  isLoaded,
  listHas,
  loadProblem,
  mappingNames,
  mayOperate,
  NO_FILTERS,
  rows,
  rowsInSight,
  searched,
  senderLog,
  state,
  timeOf,
  type Filters,
} from './inbox-store.ts';
import { goTo, place } from './navigation.ts';
import { OutcomeLabel } from './outcome-label.tsx';
import { ShownText } from './shown-text.tsx';
import { conditionsAsRead } from './trace-view.tsx';

const scrollTop = signal(0);
/** As `--row` of the style. */
const ROW = 58;
/** Rows that are made: those of the highest screen, and some above and below. */
const MADE = Math.ceil(Math.max(screen.height, 1_000) / ROW) + 24;

export function openId(): string {
  return /^\/request\/([^/]+)$/.exec(place.value.path)?.[1] ?? '';
}

export function readOpen(): void {
  document.querySelector<HTMLElement>('#detail h1')?.focus();
}

/** Opens the neighbour of the request that is open. */
export function step(by: 1 | -1): void {
  const list = foundRows.value;
  const at = list.findIndex(({ id }) => id === openId());
  const next = list[at === -1 ? 0 : Math.min(Math.max(at + by, 0), list.length - 1)];
  if (next !== undefined) goTo(`/request/${next.id}${filterQuery()}`, { replace: at !== -1 });
}

export function InboxView(): JSX.Element {
  return (
    <section class="inbox" aria-label="Inbox">
      <h1 class="unseen">Inbox</h1>
      <FilterBar />
      {rows.value.length === 0 ? (
        <EmptyInbox />
      ) : foundRows.value.length === 0 ? (
        <p class="empty quiet">No request of the list is like this.</p>
      ) : (
        <RowList />
      )}
    </section>
  );
}

function FilterBar(): JSX.Element {
  const set = (part: Partial<Filters>): void => {
    filters.value = { ...filters.value, ...part };
  };
  const { outcome, mapping, path, text, time } = filters.value;
  return (
    <form
      class="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        set({ kept: 'yes' });
      }}
    >
      <input
        id="search"
        type="search"
        placeholder="Search  /"
        aria-label="Search the inbox"
        title="Enter looks in what is kept, too: payloads, headers, runs and session keys"
        value={text}
        onInput={(event) => set({ text: event.currentTarget.value, kept: '' })}
      />
      {text !== '' && (
        <p class="count" aria-live="polite">
          {searched.value || <button class="link">Look in what is kept, too (Enter)</button>}
        </p>
      )}
      {senderLog.value !== '' && (
        <div class="count">
          Its sender may know more: <pre>{senderLog.value}</pre>
        </div>
      )}
      <Choice
        label="Outcome"
        value={outcome}
        names={['accepted', 'skipped', 'rejected']}
        onChange={(value) => set({ outcome: value })}
      />
      <Choice label="Hook" value={path} names={hookNames.value} onChange={(value) => set({ path: value })} />
      <Choice
        label="Mapping"
        value={mapping}
        names={mappingNames.value}
        onChange={(value) => set({ mapping: value })}
      />
      <Choice
        label="Time"
        value={time}
        names={timesOf(time)}
        textOf={formatInterval}
        onChange={(value) => set({ time: value })}
      />
      <FoundCount />
    </form>
  );
}

function timesOf(chosen: string): readonly string[] {
  const midnight = (ago: number): number => dayOf(new Date().setDate(new Date().getDate() - ago));
  const days = [0, 1, 2, 3, 4, 5, 6].map((ago) => timeOf(midnight(ago), midnight(ago - 1)));
  return chosen === '' || days.includes(chosen) ? days : [chosen, ...days];
}

function formatInterval(time: string): string {
  const [from = 0, to = 0] = time.split('/').map((each) => Date.parse(each) || 0);
  const isDay = dayOf(from) === from && to - from > 80_000_000;
  return isDay
    ? formatDay(from).replace(/y, .*/, 'y')
    : `${formatMinute(from)} to ${formatTime(to).slice(0, 5)}`;
}

function FoundCount(): JSX.Element {
  const isFiltered = Object.values(filters.value).some((value) => value !== '');
  const has = { some: ' so far', newest: ', the newest', all: '' }[listHas.value];
  const all = `${rows.value.length.toLocaleString('en')} requests${has}`;
  return (
    <p class="count" aria-live="polite">
      {isFiltered ? `${foundRows.value.length.toLocaleString('en')} of ${all}` : all}
      {isFiltered && (
        <span>
          {mayOperate.value && <a href={`/replay${filterQuery()}`}>Replay these</a>}{' '}
          <button type="button" class="link" onClick={() => (filters.value = NO_FILTERS)}>
            Clear
          </button>
        </span>
      )}
    </p>
  );
}

function RowList(): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const slice = useComputed(drawnRows);
  useLayoutEffect(() => box.current?.scrollTo({ top: scrollTop.peek() }), []);
  const { first, list, all } = slice.value;
  const open = openId();
  const top = useRef('');
  useLayoutEffect(() => {
    if (box.current !== null) top.current = keepPlace(box.current, top.current);
  }, [foundRows.value]);
  const shown = useRef('');
  useLayoutEffect(() => {
    if (box.current !== null && shown.current !== open && showOpenRow(box.current)) shown.current = open;
  });
  useLayoutEffect(() => {
    rowsInSight.value = list;
  }, [list]);
  const isOpenMade = list.some(({ id }) => id === open);
  return (
    <div
      class="rows"
      ref={box}
      role="listbox"
      tabIndex={0}
      aria-label={`Requests, newest first: ${all}`}
      aria-activedescendant={isOpenMade ? `row-${open}` : undefined}
      onScroll={(event) => (scrollTop.value = event.currentTarget.scrollTop)}
      onKeyDown={(event) => {
        const by = ({ ArrowDown: 1, ArrowUp: -1 } as const)[event.key];
        if (by === undefined) return;
        event.preventDefault();
        step(by);
      }}
    >
      <div class="spacer" role="presentation" style={{ height: `${all * ROW}px` }}>
        <div role="presentation" style={{ transform: `translateY(${first * ROW}px)` }}>
          {list.map((row, index) => (
            <Row
              key={row.id}
              row={row}
              above={index === 0 ? foundRows.value[first - 1] : list[index - 1]}
              isOpen={row.id === open}
              position={first + index + 1}
              all={all}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function drawnRows(): { readonly first: number; readonly list: readonly InboxRow[]; readonly all: number } {
  const list = foundRows.value;
  const first = Math.max(0, Math.floor(scrollTop.value / ROW) - 12);
  return { first, list: list.slice(first, first + MADE), all: list.length };
}

/**
 * A reader who has scrolled stays at the rows in sight while others come in above them. Returns the first row there is.
 */
function keepPlace(element: HTMLElement, before: string): string {
  const list = foundRows.peek();
  const added = before === '' ? -1 : list.findIndex(({ id }) => id === before);
  if (added > 0 && element.scrollTop > 0) element.scrollTop += added * ROW;
  return list[0]?.id ?? '';
}

/**
 * Scrolls until the row of the open request is seen. Returns whether it is, because the list may not be that long yet.
 */
function showOpenRow(element: HTMLElement): boolean {
  const at = foundRows.value.findIndex(({ id }) => id === openId());
  if (at === -1) return openId() === '';
  const top = at * ROW;
  const lowest = top + ROW - element.clientHeight;
  if (top < element.scrollTop) element.scrollTop = top;
  else if (lowest > element.scrollTop) element.scrollTop = lowest;
  return element.scrollTop <= top && element.scrollTop >= Math.floor(lowest);
}

function Row(props: {
  readonly row: InboxRow;
  readonly above: InboxRow | undefined;
  readonly isOpen: boolean;
  readonly position: number;
  readonly all: number;
}): JSX.Element {
  const { row, above, isOpen, position, all } = props;
  // The name of a day stands on the upper edge of its newest row.
  const isNewDay = above === undefined || dayOf(above.at) !== dayOf(row.at);
  return (
    <div
      id={`row-${row.id}`}
      class={isOpen ? 'row open' : 'row'}
      data-day={isNewDay ? formatDay(row.at) : undefined}
      role="option"
      aria-selected={isOpen}
      aria-posinset={position}
      aria-setsize={all}
      onClick={() => goTo(`/request/${row.id}${filterQuery()}`)}
    >
      <span class="path">
        <ShownText text={row.path === '' ? '(no name)' : row.path} />
      </span>
      <OutcomeLabel row={row} />
      <time dateTime={new Date(row.at).toISOString()} title={formatDate(row.at)}>
        {formatAgo(row.at)}
      </time>
      <span class="what">
        <ShownText text={conditionsAsRead([row.mapping, row.code, row.note].filter(Boolean).join(' · '))} />
      </span>
      {row.note === undefined && (
        <span class="cost">
          {formatBytes(row.bytes)} · {formatMs(row.tookMs)}
        </span>
      )}
    </div>
  );
}

function EmptyInbox(): JSX.Element {
  if (!isLoaded.value) return <Wait problem={loadProblem.value} />;
  return (
    <div class="empty">
      <h2>No requests yet</h2>
      <p>Send one with the token of hooks, and it appears here:</p>
      <pre>
        <code>{`curl ${state.value?.hooksUrl}/wake -H 'Authorization: Bearer TOKEN' --json '{"text": "hello"}'`}</code>
      </pre>
    </div>
  );
}
