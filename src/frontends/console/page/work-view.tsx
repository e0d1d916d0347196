/** Shows what became of a request: runs, what they sent, and system events. */
import type { JSX } from 'preact';
import type { RequestPage, WorkJson } from '../protocol.ts';
import { FactList } from './fact-list.tsx';
import { formatDate, formatMs } from './format.ts';
import { approvalText, endOf, isRun, Operations, RUNNING, text, WAITING } from './operations.tsx';
import { StateLabel } from './outcome-label.tsx';
import { ProblemText, ShownBlock, ShownText } from './shown-text.tsx';

interface Changing {
  readonly onChanged: () => void;
}

export function WorkView({ page, ...changing }: Changing & { readonly page: RequestPage }): JSX.Element {
  const made: readonly WorkJson[] = [...page.stored.runs, ...page.stored.events];
  if (made.length === 0) return <p class="quiet">Nothing was stored for this request.</p>;
  return (
    <>
      {made.map((entry) => (
        <WorkEntry key={text(entry, 'id')} entry={entry} {...changing} />
      ))}
    </>
  );
}

/** Shows a run with what it sent, or what one entry of them is. */
export function WorkEntry({ entry, ...changing }: Changing & { readonly entry: WorkJson }): JSX.Element {
  return (
    <article class={isSent(entry) ? 'sent' : 'work'}>
      <h3>
        <ShownText text={titleOf(entry)} /> <StateLabel state={endOf(entry)} />
      </h3>
      <Facts entry={entry} />
      <Failure entry={entry} />
      {(['message', 'reply', 'text'] as const).map((name) => (
        <Said key={name} name={name} said={text(entry, name)} />
      ))}
      <Operations entries={[entry]} {...changing} />
      {entry.outbox?.map((sent) => (
        <WorkEntry key={text(sent, 'id')} entry={sent} {...changing} />
      ))}
    </article>
  );
}

function Said({
  name,
  said,
}: {
  readonly name: keyof typeof SAID;
  readonly said: string;
}): JSX.Element | null {
  return said === '' ? null : (
    <>
      <h4>{SAID[name]}</h4>
      <ShownBlock kind="said" text={said} />
    </>
  );
}

const SAID = { message: 'Asked', reply: 'Reply', text: 'Text' } as const;

const isSent = (entry: WorkJson): boolean => !isRun(entry) && 'runId' in entry;

/** What an entry is, in a word. */
export function kindOf(entry: WorkJson): string {
  if (isRun(entry)) return 'run';
  if (!isSent(entry)) return 'wake';
  return text(entry, 'kind') === 'callback' ? 'callback' : 'delivery';
}

const titleOf = (entry: WorkJson): string =>
  [kindOf(entry), ...['name', 'channel', 'to', 'url'].map((name) => text(entry, name))]
    .filter(Boolean)
    .join(' ');

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
    ['came by', keyOf(entry)],
    ['model', text(entry, 'model')],
    ['runner', text(entry, 'runner')],
    ['mode', text(entry, 'mode')],
    ['tokens', tokensOf(entry)],
    ['id', text(entry, 'id')],
  ];
  return <FactList facts={facts} />;
}

/** By which key a run came to its conversation. */
function keyOf(entry: WorkJson): string {
  const by = entry['cameBy'] as { readonly key: string; readonly addedBy: string } | undefined;
  return by === undefined ? '' : `${by.key}, added by ${by.addedBy}`;
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
