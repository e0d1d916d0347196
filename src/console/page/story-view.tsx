/** The story of a request in one sentence and a bar, and what can be done about its end. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { RequestPage, WorkJson } from '../protocol.ts';
import { messageOf, postJson } from './api.ts';
import { count } from './format.ts';
import { mayOperate } from './session.ts';
import { ShownText } from './shown-text.tsx';
import { say } from './toast.ts';
import { endOf, sentOf, text, workOf } from './work-view.tsx';

type Tone = 'accepted' | 'rejected' | 'waiting' | 'skipped';
interface Step {
  readonly name: string;
  readonly tone: Tone;
  readonly said: string;
}

const FAILED = ['error', 'timeout', 'dead'];
const WAITING = ['queued', 'pending'];
const RUNNING = ['active', 'claimed'];

export function StoryView(props: {
  readonly page: RequestPage;
  readonly onChanged: () => void;
}): JSX.Element {
  return (
    <div class="story-head">
      <p class="sentence">
        <ShownText text={sentenceOf(props.page)} />
      </p>
      <ol class="bar-steps" aria-label="How far it came">
        {stepsOf(props.page).map(({ name, tone, said }) => (
          <li key={name} class={`outcome ${tone}`} title={said}>
            <span class="dot" aria-hidden="true" />
            {name} <span class="step-end">{said}</span>
          </li>
        ))}
      </ol>
      {mayOperate() && <Operations {...props} />}
    </div>
  );
}

const isRepeat = ({ row }: RequestPage): boolean => row?.isRepeat === true;
const statesOf = (work: readonly WorkJson[]): readonly string[] => work.map((entry) => endOf(entry));

/** The state that somebody has to know first. */
function worst(states: readonly string[]): Tone {
  if (states.length === 0) return 'skipped';
  if (states.some((state) => FAILED.includes(state))) return 'rejected';
  return states.some((state) => WAITING.includes(state) || RUNNING.includes(state)) ? 'waiting' : 'accepted';
}

function stepsOf(page: RequestPage): readonly Step[] {
  const { runs, events } = workOf(page);
  const { row } = page;
  const work = [...runs, ...events];
  const states = statesOf(work);
  const sent = statesOf(runs.flatMap(sentOf));
  const isMade = work.length > 0 && !isRepeat(page);
  const hasRun = states.some((state) => !WAITING.includes(state));
  const queued: Tone = !isMade ? 'skipped' : hasRun ? 'accepted' : 'waiting';
  return [
    { name: 'received', tone: 'accepted', said: '' },
    { name: 'judged', tone: row?.outcome ?? 'skipped', said: row === undefined ? '' : String(row.status) },
    { name: 'queued', tone: queued, said: isMade ? '' : 'nothing' },
    { name: 'ran', tone: isMade && hasRun ? worst(states) : 'skipped', said: isMade ? distinct(states) : '' },
    { name: 'delivered', tone: isMade ? worst(sent) : 'skipped', said: distinct(sent) },
  ];
}

function distinct(states: readonly string[]): string {
  return [...new Set(states)].join(', ');
}

function sentenceOf(page: RequestPage): string {
  const { row } = page;
  const { runs, events } = workOf(page);
  if (row?.outcome === 'rejected')
    return `Refused with ${row.status} ${row.code ?? ''}: ${row.note ?? 'see why below'}.`;
  if (isRepeat(page)) return 'A repeat of an earlier request: nothing new was made.';
  if (row?.outcome === 'skipped')
    return `Taken, and nothing was made of it: ${row.note ?? 'as a rule says'}.`;
  const by = row?.mapping === undefined ? 'Accepted' : `Taken by ${row.mapping}`;
  const entry = [...runs.flatMap((run) => [run, ...sentOf(run)]), ...events].toSorted(
    (a, b) => rank(a) - rank(b),
  )[0];
  return entry === undefined ? `${by}; nothing was stored for it.` : `${by}; ${endSentence(entry)}.`;
}

/** What is worst is said. */
function rank(entry: WorkJson): number {
  const state = endOf(entry);
  return [FAILED, RUNNING, WAITING].findIndex((states) => states.includes(state)) >>> 0;
}

function endSentence(entry: WorkJson): string {
  const what =
    text(entry, 'kind') === 'callback'
      ? 'its callback'
      : 'sessionKey' in entry
        ? 'its run'
        : 'mode' in entry
          ? 'its wake'
          : 'its reply';
  const state = endOf(entry);
  const code = (entry['lastError'] as { readonly code?: string } | null | undefined)?.code;
  const because = code === undefined ? '' : ` (${code})`;
  const tries = count(Number(text(entry, 'attempts')), 'attempt');
  if (state === 'dead') return `${what} was given up after ${tries}${because}`;
  if (FAILED.includes(state)) return `${what} failed${because}`;
  if (RUNNING.includes(state)) return `${what} is under way`;
  if (WAITING.includes(state)) return `${what} waits${because}`;
  return `${what} ended well`;
}

/** Each with the rules of its command: what has ended well is not begun again. */
function Operations({
  page,
  onChanged,
}: {
  readonly page: RequestPage;
  readonly onChanged: () => void;
}): JSX.Element {
  const problem = useSignal('');
  const { runs, events } = workOf(page);
  const all = [...runs.flatMap((run) => [run, ...sentOf(run)]), ...events];
  const idsOf = (states: readonly string[]): readonly string[] =>
    isRepeat(page)
      ? []
      : all.filter((entry) => states.includes(endOf(entry))).map((entry) => text(entry, 'id'));
  const change = async (what: string, ids: readonly string[], done: string): Promise<void> => {
    try {
      const { changed } = await postJson<{ readonly changed: number }>(`/api/${what}`, { ids });
      say(
        changed === 0
          ? 'nothing changed: it has gone on meanwhile, or is not tried again'
          : `${changed} ${done}`,
      );
      problem.value = '';
      onChanged();
    } catch (error) {
      problem.value = messageOf(error);
    }
  };
  const [failed, waiting] = [idsOf(FAILED), idsOf([...WAITING, 'dead'])];
  const running = idsOf(['active']).filter((id) => runs.some((run) => text(run, 'id') === id));
  return (
    <p class="actions">
      {failed.length > 0 && (
        <button type="button" class="primary" onClick={() => void change('retry', failed, 'due now')}>
          Run again what failed
        </button>
      )}
      {running.length > 0 && (
        <button type="button" class="danger" onClick={() => void change('cancel', running, 'cancelled')}>
          Cancel
        </button>
      )}
      {waiting.length > 0 && (
        <button type="button" class="danger" onClick={() => void change('drop', waiting, 'dropped')}>
          Drop
        </button>
      )}
      {problem.value !== '' && <span role="alert">{problem.value}</span>}
    </p>
  );
}
