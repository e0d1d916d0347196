/** Shows what is stored as tables: mappings, runs, conversations, deliveries, costs, and changes. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import type { ListPage, WorkJson } from '../protocol.ts';
import { getJson, messageOf } from './api.ts';
import { Choice } from './choice.tsx';
import { useAnswer, Wait } from './follow.tsx';
import { formatAgo, formatDate, formatMinute, formatMs } from './format.ts';
import { mayOperate, state } from './inbox-store.ts';
import { goTo, place } from './navigation.ts';
import { endOf, type ListSelection, Operations, PauseButtons, text } from './operations.tsx';
import { StateLabel } from './outcome-label.tsx';
import { ShownText } from './shown-text.tsx';
import { say } from './toast.ts';
import { WorkEntry } from './work-view.tsx';

type TablePage = ListPage<WorkJson> & {
  readonly conversation?: WorkJson;
  /** The time of the oldest request that is kept, in the list of mappings, once they are counted. */
  readonly since?: number;
};

const LOOK_MS = 5_000;

interface View {
  readonly title: string;
  /** Said where it has no row. */
  readonly empty: string;
  /** States that can be chosen. */
  readonly states?: string;
}

/** Views by their path, which the service has behind `/api`. */
export const VIEWS: Readonly<Record<string, View>> = {
  '/mappings': { title: 'Mappings', empty: 'There is no mapping yet: sluice add writes one.' },
  '/runs': {
    title: 'Runs',
    empty: 'No run is like this: a mapping with the action agent makes runs.',
    states: 'queued active completed dead',
  },
  '/conversations': { title: 'Conversations', empty: 'No agent has had a conversation yet.' },
  '/deliveries': {
    title: 'Deliveries',
    empty: 'No delivery is like this: replies and callbacks of runs are listed here.',
    states: 'queued active completed dead skipped',
  },
  '/costs': { title: 'Costs', empty: 'No agent has reported what a turn cost.' },
  '/audit': { title: 'Changes', empty: 'Nobody has changed anything.' },
};

const errorOf = (row: WorkJson): string | undefined =>
  (row['lastError'] as { readonly code: string } | null | undefined)?.code;

const keysOf = (row: WorkJson): readonly { readonly key: string; readonly addedBy: string }[] =>
  (row['keys'] ?? []) as readonly { readonly key: string; readonly addedBy: string }[];

/** A name such as `lastHitAt` is called "last hit". */
const titleOf = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/ (?:at|id)$/, '');

function Cell({ row, name }: { readonly row: WorkJson; readonly name: string }): ComponentChildren {
  const value = text(row, name);
  const link = (href: string, shown = value): JSX.Element => (
    <a href={href}>
      <ShownText text={shown} />
    </a>
  );
  if (name === 'state') return <StateLabel state={endOf(row)} />;
  if (name === 'pause')
    return text(row, 'mappingId') && <PauseButtons of={{ mapping: text(row, 'mappingId') }} />;
  if (name === 'pauseRunner')
    return text(row, 'runner') && <PauseButtons of={{ runner: text(row, 'runner') }} />;
  if (name === 'key') return link(`/conversations?id=${text(row, 'id')}`, value || text(row, 'id'));
  if (name === 'keys')
    return (
      <ShownText
        text={keysOf(row)
          .map(({ key, addedBy }) => `${key} (${addedBy})`)
          .join(', ')}
      />
    );
  if (name === 'lastError') return errorOf(row);
  if (name === 'ran') {
    const ms = Date.parse(text(row, 'endedAt')) - Date.parse(text(row, 'startedAt'));
    return Number.isNaN(ms) ? '' : formatMs(ms);
  }
  if (value === '') return '';
  if (name === 'id' || name === 'runId') return link(`/request/${value}`, value.slice(-8));
  if (name.startsWith('mapping')) return link(`/?mapping=${encodeURIComponent(value)}`);
  if (name === 'at' || name.endsWith('At')) {
    const at = new Date(row[name] as string | number).getTime();
    return <time title={formatDate(at)}>{formatAgo(at)}</time>;
  }
  const number = row[name];
  return typeof number === 'number' ? number.toLocaleString('en') : <ShownText text={value} />;
}

export function ListView(): JSX.Element {
  const { path, query } = place.value;
  const isTalk = path === '/conversations' && query.has('id');
  const address = `/api/${isTalk ? 'conversation' : path.slice(1)}?${query.toString()}`;
  /** Pages that were asked for by hand; the list stays as it is then. */
  const older = useSignal<readonly TablePage[]>([]);
  const every = (): number => (older.peek().length > 0 ? 0 : LOOK_MS);
  const { answer, problem, again } = useAnswer<TablePage>(address, every);
  const { title = '', states, empty = '' } = VIEWS[path] ?? {};
  const page = answer.value;
  const pages = page === undefined ? [] : [page, ...older.value];
  const rows = (isTalk ? pages.toReversed() : pages).flatMap((one) => one.rows);
  const next = pages.at(-1)?.next;
  const more = (): void =>
    void getJson<TablePage>(`${address}&before=${next ?? ''}`).then(
      (found) => (older.value = [...older.value, found]),
      (error: unknown) => say(messageOf(error)),
    );
  const changing = { onChanged: again };
  return (
    <article class="request overview">
      <h1 tabIndex={-1}>{(page?.conversation && text(page.conversation, 'key')) || title}</h1>
      {states !== undefined && <ListFilters states={states.split(' ')} />}
      {states !== undefined && query.has('state') && (
        <Operations entries={rows} listed={listedBy(path, query)} {...changing} />
      )}
      {(page === undefined || problem.value !== '') && <Wait problem={problem.value} />}
      {page !== undefined && rows.length === 0 && (
        <p class="empty">
          {next === undefined ? empty : 'None of those that were looked at; there are older ones.'}
        </p>
      )}
      {page !== undefined && path === '/mappings' && (
        <p class="quiet small" role="status">
          Counted: runs of the last 24 hours, the newest 10,000, and{' '}
          {page.since === undefined
            ? 'soon its requests…'
            : `requests since ${formatMinute(Math.max(page.since, Date.now() - 86_400_000))}.`}
        </p>
      )}
      {isTalk && rows.map((run) => <WorkEntry key={text(run, 'id')} entry={run} {...changing} />)}
      {!isTalk && rows.length > 0 && <Table rows={rows} keys={page?.columns?.split(' ') ?? []} />}
      {next !== undefined && (
        <button type="button" onClick={more}>
          {isTalk ? 'Earlier' : 'More'}
        </button>
      )}
    </article>
  );
}

/** A change of the whole list is asked with the list's own filters. */
function listedBy(path: string, query: URLSearchParams): ListSelection {
  const filters = [...query].filter(([name, value]) => ['state', 'mapping'].includes(name) && value !== '');
  return { of: path === '/runs' ? 'runs' : 'outbox', ...Object.fromEntries(filters) };
}

/** The filters stand in the address. */
function ListFilters({ states }: { readonly states: readonly string[] }): JSX.Element {
  const { path, query } = place.value;
  const choice = (label: string, names: readonly string[]): JSX.Element => (
    <Choice
      label={label}
      value={query.get(label.toLowerCase()) ?? ''}
      names={names}
      onChange={(value) => {
        const next = new URLSearchParams(query);
        next.set(label.toLowerCase(), value);
        goTo(`${path}?${next.toString()}`, { replace: true });
      }}
    />
  );
  return (
    <p class="actions">
      {choice('State', states)} {choice('Mapping', state.value?.mappings ?? [])}
    </p>
  );
}

function Table(props: { readonly rows: readonly WorkJson[]; readonly keys: readonly string[] }): JSX.Element {
  const { rows } = props;
  // The state is the outcome, where there is one.
  const shown = props.keys.filter((name) => name !== 'outcome');
  const keys = shown.filter((name) =>
    name.startsWith('pause')
      ? mayOperate.value
      : ['ran', 'key'].includes(name) ||
        rows.some((row) => text(row, name) !== '' || (name === 'lastError' && errorOf(row))),
  );
  return (
    <div class="table" tabIndex={0} role="region" aria-label="Rows">
      <table>
        <thead>
          <tr>
            {keys.map((name) => (
              <th key={name} scope="col">
                {titleOf(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {keys.map((name) => (
                <td key={name} class={typeof row[name] === 'number' ? 'number' : ''}>
                  <Cell row={row} name={name} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
