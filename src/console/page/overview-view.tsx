/** What is seen where no request is chosen: what came, how it ended, and what stands in the way. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Overview } from '../protocol.ts';
import { getJson, messageOf, postJson } from './api.ts';
import { Choice } from './choice.tsx';
import { inNeed, needsAttention } from './ends-store.ts';
import { count, formatAgo, formatTime } from './format.ts';
import { filters, mayOperate, rows, state } from './inbox-store.ts';
import { ShownText } from './shown-text.tsx';
import { say } from './toast.ts';

const LOOK_MS = 5_000;
const BARS = 24;
/** As the store names all mappings. */
const ALL = '*';

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
      {found.value !== undefined && <Work found={found.value} />}
      <Need />
      <Chart />
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
        {count(backlog.queuedOutbox, 'delivery', 'deliveries')} waiting, {backlog.deadOutbox} given up
      </p>
      <ul>
        {obstaclesOf(found).map(({ text, paused }) => (
          <li key={text} class="note">
            <ShownText text={text} />{' '}
            {paused !== undefined && mayOperate.value && (
              <button type="button" class="link" onClick={() => void setPause('resume', paused)}>
                Resume
              </button>
            )}
          </li>
        ))}
      </ul>
      {mayOperate.value && <PauseForm />}
    </section>
  );
}

interface Obstacle {
  readonly text: string;
  /** The mapping whose pause can be ended. */
  readonly paused?: string;
}

/** What keeps runs from beginning. */
function obstaclesOf({ pauses, limited, holds }: Overview): readonly Obstacle[] {
  return [
    ...pauses.map(({ mappingId, since }) => ({
      text: `${mappingId === ALL ? 'All runs are' : `Mapping ${mappingId} is`} paused since ${formatTime(since)}.`,
      paused: mappingId,
    })),
    ...limited.map(({ mappingId, reason, waiting }) => ({
      text: `Mapping ${mappingId} is at its limit (${reason}): ${count(waiting, 'run')} waiting.`,
    })),
    ...holds.map(({ runner, model = '', code, waiting }) => ({
      text: `Agent ${runner} ${model} is away (${code}): ${count(waiting, 'run')} waiting.`,
    })),
  ];
}

async function setPause(what: 'pause' | 'resume', mapping: string): Promise<void> {
  const isAll = mapping === ALL || mapping === '';
  try {
    const body = isAll ? {} : { mapping };
    const { changed } = await postJson<{ readonly changed: number }>(`/api/${what}`, body);
    say(changed === 0 ? 'nothing changed' : `${what}d ${isAll ? 'all runs' : mapping}`);
  } catch (error) {
    say(messageOf(error));
  }
}

/** Begins no further run of a mapping, or of any; what is under way goes on. */
function PauseForm(): JSX.Element {
  const chosen = useSignal('');
  const names = state.value?.mappings ?? [];
  return (
    <p class="actions">
      <Choice label="Mapping" value={chosen.value} names={names} onChange={(name) => (chosen.value = name)} />
      <button type="button" onClick={() => void setPause('pause', chosen.value)}>
        Pause
      </button>
    </p>
  );
}

function Need(): JSX.Element {
  const need = inNeed.value.length;
  if (need === 0) return <p class="quiet">Nothing needs attention.</p>;
  return (
    <p>
      {count(need, 'request needs', 'requests need')} attention.{' '}
      <button type="button" class="link" onClick={() => (filters.value = { ...filters.value, need: 'yes' })}>
        Show them in the list
      </button>
    </p>
  );
}

/** Requests over time, from the first in the list to now; what needs attention in its own colour. */
function Chart(): JSX.Element | null {
  const list = rows.value;
  const oldest = list.at(-1)?.at;
  if (oldest === undefined) return null;
  const now = Date.now();
  const step = Math.max((now - oldest) / BARS, 60_000);
  const bars = Array.from({ length: BARS }, (_, index) => {
    const to = now - (BARS - 1 - index) * step;
    return list.filter(({ at }) => at > to - step && at <= to);
  });
  const top = Math.max(...bars.map(({ length }) => length), 1);
  const said = `${count(list.length, 'request')} since ${formatAgo(oldest)}, ${inNeed.value.length} of them need attention`;
  return (
    <section>
      <h2>Requests over time</h2>
      <svg class="chart" viewBox={`0 0 ${BARS * 10} 60`} role="img" aria-label={said}>
        {bars.map((bar, index) => (
          <g key={index} transform={`translate(${index * 10 + 1} 60) scale(1 ${-58 / top})`}>
            <rect class="all" width="8" height={bar.length} />
            <rect class="bad" width="8" height={bar.filter(needsAttention).length} />
          </g>
        ))}
      </svg>
      <p class="quiet small">{said}</p>
    </section>
  );
}
