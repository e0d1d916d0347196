/** Shows what somebody has to look at, what came, and how much work there is, while no request is chosen. */
import type { JSX } from 'preact';
import type { Cause, Overview } from '../protocol.ts';
import { messageOf, postJson } from './api.ts';
import { useAnswer, Wait } from './follow.tsx';
import { count, formatAgo, formatMinute } from './format.ts';
import { mayOperate, timeOf } from './inbox-store.ts';
import { type ListSelection, Operations, PauseButtons } from './operations.tsx';
import { ShownText } from './shown-text.tsx';
import { History } from './history-view.tsx';
import { say } from './toast.ts';
import { conditionsAsRead } from './trace-view.tsx';

const LOOK_MS = 5_000;
/** The same while requests are counted. */
const COUNTING_MS = 1_000;
const DAY_MS = 86_400_000;
const MAX_CAUSES = 50;

export function OverviewView(): JSX.Element {
  const { answer, problem, again } = useAnswer<Overview>('/api/overview', ({ isCounting }) =>
    isCounting ? COUNTING_MS : LOOK_MS,
  );
  const found = answer.value;
  return (
    <article class="request overview">
      <h1 tabIndex={-1}>Overview</h1>
      {(found === undefined || problem.value !== '') && <Wait problem={problem.value} />}
      {found !== undefined && <Causes {...found} onChanged={again} />}
      <History marks={found?.marks ?? []} />
      {found !== undefined && <Work found={found} />}
      {found !== undefined && found.recoveries.length > 0 && <Recoveries of={found} />}
    </article>
  );
}

function Work({ found: { backlog, spent } }: { readonly found: Overview }): JSX.Element {
  const { today, usual, most } = spent;
  const usd = (value: number): string => `$${value.toFixed(2)}`;
  return (
    <section>
      <h2>Work</h2>
      <p>
        {count(backlog.activeRuns, 'run')} under way, {backlog.queuedRuns} queued, {backlog.deadRuns} dead;{' '}
        {count(backlog.activeOutbox, 'delivery', 'deliveries')} under way, {backlog.queuedOutbox} waiting,{' '}
        {backlog.deadOutbox} given up
      </p>
      {(today > 0 || usual !== undefined) && (
        <p>
          <a href="/costs">Spent today</a>: <b>{usd(today)}</b>
          {usual !== undefined && `, on a day before ${usd(usual)}`}
          {most !== undefined && (
            <>
              ; most by <ShownText text={most.mappingId} />, {usd(most.usd)}{' '}
              <PauseButtons of={{ mapping: most.mappingId }} whats={['pause']} />
            </>
          )}
        </p>
      )}
      {mayOperate.value && (
        <p>
          All runs: <PauseButtons of={{}} />
        </p>
      )}
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

/** The newest and steepest stand first, and what is meant to be so last. */
function Causes(props: Pick<Overview, 'causes' | 'isCounting'> & { onChanged(): void }): JSX.Element {
  const { causes, isCounting, onChanged } = props;
  const aside = causes.filter((cause) => cause.aside !== undefined);
  const open = causes.filter((cause) => cause.aside === undefined);
  const rowsOf = (some: readonly Cause[]): readonly JSX.Element[] =>
    some.map((cause) => <CauseRow key={cause.id} cause={cause} onChanged={onChanged} />);
  return (
    <section>
      {open.length > 0 && <h2>{count(open.length, 'cause needs', 'causes need')} attention</h2>}
      {(isCounting || open.length === 0) && (
        <p class="quiet" role="status">
          {isCounting ? 'Requests are still counted: their causes follow.' : 'Nothing needs attention.'}
        </p>
      )}
      <ul class="causes">{rowsOf(open.slice(0, MAX_CAUSES))}</ul>
      {open.length > MAX_CAUSES && (
        <p>
          The others follow in <code>sluice requests --grouped</code>.
        </p>
      )}
      {aside.length > 0 && (
        <details>
          <summary>{count(aside.length, 'cause is', 'causes are')} meant to be so</summary>
          <ul class="causes">{rowsOf(aside)}</ul>
        </details>
      )}
    </section>
  );
}

function listOf({ kind, ...cause }: Cause): readonly [href: string, label: string] | undefined {
  const { path = '', mappingId: mapping = '', errorCode: text = '', since } = cause;
  const of = (query: Readonly<Record<string, string>>): string => new URLSearchParams(query).toString();
  if (kind === 'request') return [`/?${of({ path, outcome: 'rejected', text })}`, 'Show these'];
  if (kind === 'flood') return [`/?${of({ path, time: timeOf(since, Date.now() + DAY_MS) })}`, 'Show these'];
  if (kind === 'wait') return [`/runs?${of({ state: 'queued', mapping })}`, 'Show what waits'];
  if (kind === 'delivery') return [`/deliveries?${of({ state: 'dead', mapping })}`, 'Show these'];
  return kind === 'run' ? [`/runs?${of({ mapping })}`, 'Show these'] : undefined;
}

/** What failed or was given up of a cause; undefined where nothing can begin again. */
function failedOf({ kind, mappingId = '', errorCode }: Cause): ListSelection | undefined {
  if (kind === 'request' || kind === 'wait' || kind === 'flood') return undefined;
  const of = ({ run: 'runs', delivery: 'outbox', event: 'events' } as const)[kind];
  return { of, mapping: mappingId, ...(errorCode !== undefined && { errorCode }) };
}

const beforeText = ({ before, firstAt, since }: Cause): string => {
  const days = (since - firstAt) / DAY_MS;
  return days < 1 ? before.toLocaleString('en') : `${Math.max(1, Math.round(before / days))} a day`;
};

function CauseRow({ cause, onChanged }: { readonly cause: Cause; onChanged(): void }): JSX.Element {
  const { id, kind, says, since, lastAt, before, example, mappingId, paused, aside } = cause;
  const [href, label] = listOf(cause) ?? [];
  const failed = failedOf(cause);
  const meant = async (): Promise<void> => {
    const reason = prompt('Why is it meant to be so? It comes back when as many have come again.')?.trim();
    if (!reason) return;
    await postJson('/api/aside', { id, count: cause.count, reason }).then(onChanged, (error: unknown) =>
      say(messageOf(error)),
    );
  };
  return (
    <li>
      <p>
        {kind !== 'wait' && <b>{cause.count.toLocaleString('en')} × </b>}
        <ShownText text={conditionsAsRead(says)} />
      </p>
      <p class="quiet small">
        since {formatMinute(since)}
        {before > 0 && `, before that ${beforeText(cause)}`}, the last
        {example !== undefined && ', quoted above,'} {formatAgo(lastAt)}
        {aside !== undefined && ` — ${aside.who}: ${aside.reason}`}
      </p>
      <div class="actions">
        {failed !== undefined && <Operations listed={failed} onChanged={onChanged} />}
        {mayOperate.value && kind === 'request' && (
          <a class="button" href={`/replay${href?.slice(1)}`}>
            Replay these…
          </a>
        )}
        {paused !== undefined && <PauseButtons of={paused} whats={['resume']} />}
        {example !== undefined && <a href={`/request/${example}`}>Open one</a>}
        {paused === undefined && href !== undefined && <a href={href}>{label}</a>}
        {mappingId !== undefined && mappingId !== '' && (
          <PauseButtons of={{ mapping: mappingId }} whats={['pause']} />
        )}
        {mayOperate.value && aside === undefined && (
          <button type="button" class="link" onClick={() => void meant()}>
            Meant to be so…
          </button>
        )}
      </div>
    </li>
  );
}
