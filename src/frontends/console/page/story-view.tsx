/** Shows the story of a request in one sentence, and what can be done about its end. */
import type { ComponentChildren, JSX } from 'preact';
import type { RequestPage, WorkJson } from '../protocol.ts';
import { count } from './format.ts';
import { approvalText, endOf, FAILED, isAsked, Operations, RUNNING, text, WAITING } from './operations.tsx';
import { ShownText } from './shown-text.tsx';
import { conditionsAsRead } from './trace-view.tsx';
import { kindOf, workOf } from './work-view.tsx';

export function StoryView(props: {
  readonly page: RequestPage;
  readonly onChanged: () => void;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="story-head">
      <p class="sentence">
        <ShownText text={sentenceOf(props.page)} />
      </p>
      <div class="actions">
        <Operations entries={isRepeat(props.page) ? [] : workOf(props.page)} onChanged={props.onChanged} />
        {props.children}
      </div>
    </div>
  );
}

const isRepeat = ({ row }: RequestPage): boolean => row?.isRepeat === true;

function sentenceOf(page: RequestPage): string {
  const { row } = page;
  if (row?.outcome === 'rejected')
    return `Refused with ${row.status} ${row.code ?? ''}: ${conditionsAsRead(row.note ?? 'see why below')}.`;
  if (isRepeat(page)) return 'A repeat of an earlier request: nothing new was made.';
  if (row?.outcome === 'skipped')
    return `Taken, and nothing was made of it: ${row.note ?? 'as a rule says'}.`;
  const by = row?.mapping === undefined ? 'Accepted' : `Taken by ${row.mapping}`;
  const [entry] = workOf(page).toSorted((a, b) => rank(a) - rank(b));
  return entry === undefined ? `${by}; nothing was stored for it.` : `${by}; ${endSentence(entry)}.`;
}

/** What somebody is asked about ranks first, and then the worst. */
function rank(entry: WorkJson): number {
  if (isAsked(entry)) return -1;
  const state = endOf(entry);
  return [FAILED, RUNNING, WAITING].findIndex((states) => states.includes(state)) >>> 0;
}

function endSentence(entry: WorkJson): string {
  const what = `its ${kindOf(entry)}`;
  if (isAsked(entry)) return `${what} waits: an approval is ${approvalText(entry)}`;
  const state = endOf(entry);
  const { code = '', message = '' } = (entry['lastError'] ?? {}) as Partial<
    Record<'code' | 'message', string>
  >;
  const said = [code, ...message.split('\n')].filter(Boolean).join(': ').slice(0, 300);
  const because = said === '' ? '' : ` (${said})`;
  const tries = count(Number(text(entry, 'attempts')), 'attempt');
  if (state === 'dead') return `${what} was given up after ${tries}${because}`;
  if (FAILED.includes(state)) return `${what} failed${because}`;
  if (RUNNING.includes(state)) return `${what} is under way`;
  if (WAITING.includes(state)) return `${what} waits${because}`;
  return `${what} ended well`;
}
