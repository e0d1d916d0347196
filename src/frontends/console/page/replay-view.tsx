/**
 * Replays the requests of the list: it shows first what would become of each, and then sends those that
 * would be accepted.
 */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { PlannedReplay, ReplayPlan, TakenAgain } from '../protocol.ts';
import { isAborted, messageOf, postJson } from './api.ts';
import { count } from './format.ts';
import { foundRows, listHas, timeOf } from './inbox-store.ts';
import { Label } from './outcome-label.tsx';
import { type Batch, begin } from './progress.tsx';
import { ProblemText, ShownText } from './shown-text.tsx';

const ENDS: readonly (readonly [end: PlannedReplay['end'], tone: string, words: string])[] = [
  ['taken', 'accepted', 'would be taken'],
  ['refused', 'rejected', 'would be refused again'],
  ['accepted', 'skipped', 'accepted when they came: not repeated'],
  ['again', 'skipped', 'taken again before, or replays of others in the list'],
  ['not-kept', 'skipped', 'not kept whole: cannot be repeated'],
];

export function ReplayView(): JSX.Element {
  const plan = useSignal<readonly PlannedReplay[]>([]);
  const said = useSignal('working out what would become of them…');
  const problem = useSignal('');
  const fail = (error: unknown): void => {
    if (!isAborted(error)) problem.value = messageOf(error);
  };
  const isWhole = listHas.value !== 'some';
  useEffect(() => {
    // The list may still be on its way: a plan of a part of it would leave out what nobody sees.
    if (!isWhole) return undefined;
    const ids = Array.from(foundRows.peek().toReversed(), ({ id }) => id);
    if (ids.length === 0) return void (said.value = 'the list has no request');
    const leaving = new AbortController();
    postJson<ReplayPlan>('/api/replay/plan', { ids }, leaving.signal).then((answer) => {
      ({ plan: plan.value } = answer);
      const later = answer.later === 0 ? '' : `; ${answer.later} later ones come with the next plan`;
      said.value = `${count(plan.value.length, 'request')} of the list, the oldest first, with the mappings as they are now; each is taken again once a day at most${later}`;
    }, fail);
    return () => leaving.abort();
  }, [isWhole]);
  const taken = plan.value.filter(({ end }) => end === 'taken').map(({ id }) => id);
  const replay = (): void => {
    said.value = 'They are taken again now: the progress stands above every view.';
    plan.value = [];
    begin({
      nouns: ['request', 'requests'],
      done: 'taken again',
      hasEnds: true,
      ids: taken,
      begin: takeAgain,
      linkOf,
    });
  };
  return (
    <article class="request overview">
      <h1 tabIndex={-1}>Replay</h1>
      {problem.value === '' ? <p role="status">{said.value}</p> : <ProblemText text={problem.value} />}
      {taken.length > 0 && (
        <p class="actions">
          <button type="button" class="primary" onClick={replay}>
            Replay {taken.length}
          </button>
        </p>
      )}
      {ENDS.map(([end, tone, words]) => {
        const planned = plan.value.filter((one) => one.end === end);
        return planned.length === 0 ? null : (
          <details key={end}>
            <summary>
              <Label tone={tone} text={`${planned.length} ${words}`} />
            </summary>
            <ul>
              {planned.map(({ id, says = '' }) => (
                <li key={id}>
                  <a href={`/request/${id}`}>{id}</a> <ShownText text={says} />
                </li>
              ))}
            </ul>
          </details>
        );
      })}
    </article>
  );
}

async function takeAgain(ids: readonly string[]): ReturnType<Batch['begin']> {
  const { done } = await postJson<{ readonly done: readonly TakenAgain[] }>('/api/replay', { ids });
  const refused = done.flatMap(({ status }) => (status < 300 ? [] : [`answered ${status}`]));
  const others = Array.from({ length: ids.length - done.length }, () => 'taken again or gone meanwhile');
  return { work: done.flatMap(({ work }) => work), refused: [...refused, ...others] };
}

const linkOf = (from: number): string =>
  `/?${new URLSearchParams({ text: 'replay', time: timeOf(from, Date.now() + 1_000) }).toString()}`;
