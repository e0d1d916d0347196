/**
 * Replays the requests of the list: it shows first what would become of each, and then sends those that
 * would be accepted.
 */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { PlannedReplay, ReplayResult, ReplayPlan } from '../protocol.ts';
import { isAborted, messageOf, postJson } from './api.ts';
import { count } from './format.ts';
import { foundRows } from './inbox-store.ts';
import { Label } from './outcome-label.tsx';
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
  const done = useSignal<readonly ReplayResult[] | undefined>(undefined);
  const said = useSignal('working out what would become of them…');
  const problem = useSignal('');
  const fail = (error: unknown): void => {
    if (!isAborted(error)) problem.value = messageOf(error);
  };
  useEffect(() => {
    const ids = foundRows
      .peek()
      .map(({ id }) => id)
      .toReversed();
    if (ids.length === 0) return void (said.value = 'the list has no request');
    const leaving = new AbortController();
    postJson<ReplayPlan>('/api/replay/plan', { ids }, leaving.signal).then((answer) => {
      ({ plan: plan.value } = answer);
      const later = answer.later === 0 ? '' : `; ${answer.later} later ones come with the next plan`;
      said.value = `${count(plan.value.length, 'request')} of the list, the oldest first, with the mappings as they are now; each is taken again once a day at most${later}`;
    }, fail);
    return () => leaving.abort();
  }, []);
  const taken = plan.value.filter(({ end }) => end === 'taken').map(({ id }) => id);
  const replay = (): void => {
    said.value = `taking ${taken.length} again…`;
    plan.value = [];
    postJson<{ readonly done: readonly ReplayResult[] }>('/api/replay', { ids: taken }).then((answer) => {
      ({ done: done.value } = answer);
      said.value = `${count(answer.done.length, 'request was', 'requests were')} taken again`;
    }, fail);
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
      <ul>
        {done.value?.map(({ id, requestId, status }) => (
          <li key={id}>
            <a href={`/request/${requestId}`}>{requestId}</a>{' '}
            <Label tone={status < 300 ? 'accepted' : 'rejected'} text={`answered ${status}`} />{' '}
            <span class="quiet">in place of {id}</span>
          </li>
        ))}
      </ul>
    </article>
  );
}
