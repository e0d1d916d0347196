/** Shows what became of a request: runs, what they sent, and system events. */
import type { JSX } from 'preact';
import type { RequestPage, WorkJson } from '../protocol.ts';
import { FactList } from './fact-list.tsx';
import { formatDate, formatMs } from './format.ts';
import { approvalText, endOf, Operations, RUNNING, text, WAITING } from './operations.tsx';
import { StateLabel } from './outcome-label.tsx';
import { ProblemText, ShownBlock, ShownText } from './shown-text.tsx';

interface Changing {
  readonly onChanged: () => void;
}

export function WorkView({ page, ...changing }: Changing & { readonly page: RequestPage }): JSX.Element {
  const { runs, events }: WorkOf = page.stored;
  if (runs.length === 0 && events.length === 0)
    return <p class="quiet">Nothing was stored for this request.</p>;
  return (
    <>
      {runs.map((run) => (
        <RunWork key={text(run, 'id')} entry={run} {...changing} />
      ))}
      {events.map((event) => (
        <EventWork key={text(event, 'id')} entry={event} {...changing} />
      ))}
    </>
  );
}

interface EntryProps extends Changing {
  readonly entry: WorkJson;
}

export function RunWork({ entry, ...changing }: EntryProps): JSX.Element {
  const reply = text(entry, 'reply');
  return (
    <article class="work">
      <h3>
        Run <ShownText text={text(entry, 'name')} /> <StateLabel state={endOf(entry)} />
      </h3>
      <Facts entry={entry} />
      <Failure entry={entry} />
      {text(entry, 'message') !== '' && <h4>Asked</h4>}
      <ShownBlock kind="said" text={text(entry, 'message')} />
      {reply !== '' && <h4>Reply</h4>}
      <ShownBlock kind="said" text={reply} />
      <Operations entries={[entry]} {...changing} />
      {(entry.outbox ?? []).map((sent) => (
        <SentEntry key={text(sent, 'id')} entry={sent} {...changing} />
      ))}
    </article>
  );
}

function SentEntry({ entry, ...changing }: EntryProps): JSX.Element {
  const where = [text(entry, 'channel'), text(entry, 'to'), text(entry, 'url')].filter(Boolean).join(' ');
  return (
    <div class="sent">
      <h4>
        {text(entry, 'kind') === 'callback' ? 'Callback' : 'Delivery'} <ShownText text={where} />{' '}
        <StateLabel state={text(entry, 'state')} />
      </h4>
      <Facts entry={entry} />
      <Failure entry={entry} />
      <Operations entries={[entry]} {...changing} />
    </div>
  );
}

function EventWork({ entry, ...changing }: EntryProps): JSX.Element {
  return (
    <article class="work">
      <h3>
        System event <span class="quiet">{text(entry, 'kind')}</span>{' '}
        <StateLabel state={text(entry, 'state')} />
      </h3>
      <ShownBlock kind="said" text={text(entry, 'text')} />
      <Facts entry={entry} />
      <Failure entry={entry} />
      <Operations entries={[entry]} {...changing} />
    </article>
  );
}

interface WorkOf {
  readonly runs: readonly WorkJson[];
  readonly events: readonly WorkJson[];
}

/** All runs of a request, what they send, and its events. */
export function workOf({ stored: { runs, events } }: RequestPage): readonly WorkJson[] {
  const made: readonly WorkJson[] = runs;
  return [...made.flatMap((run) => [run, ...(run.outbox ?? [])]), ...events];
}

/** Whether anything may still change by itself. */
export const isUnderWay = (page: RequestPage): boolean =>
  workOf(page).some((entry) => [...WAITING, ...RUNNING].includes(text(entry, 'state')));

function Facts({ entry }: { readonly entry: WorkJson }): JSX.Element {
  const [started, ended] = ['startedAt', 'endedAt'].map((key) => Date.parse(text(entry, key)));
  const ran =
    started !== undefined && ended !== undefined && started <= ended ? formatMs(ended - started) : '';
  const due = text(entry, 'state') === 'queued' ? Date.parse(text(entry, 'dueAt')) : Number.NaN;
  const facts: readonly (readonly [string, string])[] = [
    ['approval', approvalText(entry)],
    ['attempts', text(entry, 'attempts')],
    ['ran', ran],
    ['next try', due > Date.now() ? formatDate(due) : ''],
    ['session', text(entry, 'sessionKey')],
    ['model', text(entry, 'model')],
    ['runner', text(entry, 'runner')],
    ['mode', text(entry, 'mode')],
    ['tokens', tokensOf(entry)],
    ['id', text(entry, 'id')],
  ];
  return <FactList facts={facts} />;
}

function tokensOf(entry: WorkJson): string {
  const usage = entry['usage'] as
    { readonly inputTokens?: number; readonly outputTokens?: number } | null | undefined;
  return usage === null || usage === undefined
    ? ''
    : `${usage.inputTokens ?? '?'} in, ${usage.outputTokens ?? '?'} out`;
}

function Failure({ entry }: { readonly entry: WorkJson }): JSX.Element | null {
  const error = entry['lastError'] as { readonly code: string; readonly message?: string } | null | undefined;
  if (error === null || error === undefined) return null;
  return <ProblemText code={error.code} text={error.message ?? ''} />;
}
