/** What became of a request: runs, what they sent, and system events. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { RequestPage, WorkJson } from '../protocol.ts';
import { FactList } from './fact-list.tsx';
import { messageOf, postJson } from './api.ts';
import { formatDate, formatMs } from './format.ts';
import { StateLabel } from './outcome-label.tsx';
import { ShownText } from './shown-text.tsx';

export interface WorkProps {
  readonly page: RequestPage;
  readonly mayChange: boolean;
  readonly onChanged: () => void;
}

export function WorkView({ page, mayChange, onChanged }: WorkProps): JSX.Element {
  const { runs, events } = workOf(page);
  if (runs.length === 0 && events.length === 0)
    return <p class="quiet">Nothing was stored for this request.</p>;
  return (
    <>
      {runs.map((run) => (
        <article class="work" key={text(run, 'id')}>
          <h3>
            Run <ShownText text={text(run, 'name')} /> <StateLabel state={endOf(run)} />
          </h3>
          <Facts entry={run} />
          <Failure entry={run} />
          {text(run, 'reply') !== '' && (
            <>
              <h4>Reply</h4>
              <pre class="said">
                <ShownText text={text(run, 'reply')} />
              </pre>
            </>
          )}
          <Actions entry={run} mayChange={mayChange} onChanged={onChanged} />
          {(run.outbox ?? []).map((entry) => (
            <div class="sent" key={text(entry, 'id')}>
              <h4>
                {text(entry, 'kind') === 'callback' ? 'Callback' : 'Delivery'}{' '}
                <ShownText
                  text={[text(entry, 'channel'), text(entry, 'to'), text(entry, 'url')]
                    .filter(Boolean)
                    .join(' ')}
                />{' '}
                <StateLabel state={text(entry, 'state')} />
              </h4>
              <Facts entry={entry} />
              <Failure entry={entry} />
              <Actions entry={entry} mayChange={mayChange} onChanged={onChanged} />
            </div>
          ))}
        </article>
      ))}
      {events.map((event) => (
        <article class="work" key={text(event, 'id')}>
          <h3>
            System event <span class="quiet">{text(event, 'kind')}</span>{' '}
            <StateLabel state={text(event, 'state')} />
          </h3>
          <pre class="said">
            <ShownText text={text(event, 'text')} />
          </pre>
          <Facts entry={event} />
          <Failure entry={event} />
          <Actions entry={event} mayChange={mayChange} onChanged={onChanged} />
        </article>
      ))}
    </>
  );
}

function workOf({ stored }: RequestPage): {
  readonly runs: readonly WorkJson[];
  readonly events: readonly WorkJson[];
} {
  return stored as unknown as { readonly runs: readonly WorkJson[]; readonly events: readonly WorkJson[] };
}

/** Whether anything may still change by itself. */
export function isUnderWay(page: RequestPage): boolean {
  const { runs, events } = workOf(page);
  const states = [...runs.flatMap((run) => [run, ...(run.outbox ?? [])]), ...events].map((entry) =>
    text(entry, 'state'),
  );
  return states.some((one) => one === 'queued' || one === 'active' || one === 'pending' || one === 'claimed');
}

function text(entry: WorkJson, key: string): string {
  const value = entry[key];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function endOf(run: WorkJson): string {
  return text(run, 'outcome') || text(run, 'state');
}

function Facts({ entry }: { readonly entry: WorkJson }): JSX.Element {
  const attempts = text(entry, 'attempts');
  const [started, ended] = ['startedAt', 'endedAt'].map((key) => Date.parse(text(entry, key)));
  const ran =
    started !== undefined && ended !== undefined && started <= ended ? formatMs(ended - started) : '';
  const due = text(entry, 'state') === 'queued' ? Date.parse(text(entry, 'dueAt')) : Number.NaN;
  const facts: readonly (readonly [string, string])[] = [
    ['attempts', attempts],
    ['ran', ran],
    ['next try', due > Date.now() ? formatDate(due) : ''],
    ['session', text(entry, 'sessionKey')],
    ['model', text(entry, 'model')],
    ['runner', text(entry, 'runner')],
    ['mode', text(entry, 'mode')],
    ['tokens', tokensOf(entry)],
    ['id', text(entry, 'id')],
  ];
  return <FactList facts={facts.map(([name, value]) => [name, value === '' ? undefined : value])} />;
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
  return (
    <p class="problem">
      <strong>{error.code}</strong> <ShownText text={error.message ?? ''} />
    </p>
  );
}

function Actions({
  entry,
  mayChange,
  onChanged,
}: { readonly entry: WorkJson } & Omit<WorkProps, 'page'>): JSX.Element | null {
  const problem = useSignal('');
  const state = text(entry, 'state');
  if (!mayChange || !['queued', 'dead', 'pending'].includes(state)) return null;
  const change = async (what: 'retry' | 'drop'): Promise<void> => {
    try {
      await postJson(`/api/${what}`, { id: text(entry, 'id') });
      onChanged();
    } catch (error) {
      problem.value = messageOf(error);
    }
  };
  return (
    <p class="actions">
      {state !== 'pending' && (
        <button type="button" onClick={() => void change('retry')}>
          Try now
        </button>
      )}
      <button type="button" class="danger" onClick={() => void change('drop')}>
        Drop
      </button>
      {problem.value !== '' && <span role="alert">{problem.value}</span>}
    </p>
  );
}
