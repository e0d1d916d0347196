/** Shows one request: what it was, why it became what it is, and what became of it. */
import { useSignal, useSignalEffect, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { Judgement, KeptContent, RequestPage } from '../protocol.ts';
import { getJson, isAborted, isPassing, messageOf, postJson } from './api.ts';
import { parseExact, type ExactValue } from './exact-json.ts';
import { formatBody, formatDate, formatMs } from './format.ts';
import { mayOperate, mayWrite, state } from './inbox-store.ts';
import { goTo } from './navigation.ts';
import { NoteList } from './note-list.tsx';
import { OutcomeLabel } from './outcome-label.tsx';
import { PayloadTree, pointedPath } from './payload-tree.tsx';
import { PromptView } from './prompt-view.tsx';
import { ShownBlock, ShownText } from './shown-text.tsx';
import { StoryView } from './story-view.tsx';
import { Tabs } from './tabs.tsx';
import { copy, say } from './toast.ts';
import { Place, TemplateList } from './template-view.tsx';
import { TransformView, WhyView } from './trace-view.tsx';
import { isUnderWay, WorkView } from './work-view.tsx';

/** A request whose work goes on is looked at again after this time. */
const LOOK_AGAIN_MS = 1_500;

export function RequestView({ id }: { readonly id: string }): JSX.Element {
  const page = useSignal<RequestPage | undefined>(undefined);
  const problem = useSignal('');
  const asked = useSignal(0);
  const generation = state.value?.generation;
  useEffect(() => {
    pointedPath.value = '';
    page.value = undefined;
  }, [id]);
  useEffect(() => load(id, page, problem), [id, asked.value, generation]);
  if (problem.value !== '') return <p class="empty">{problem.value}</p>;
  if (page.value === undefined) return <p class="empty quiet">Loading…</p>;
  return <RequestContent page={page.value} onChanged={() => (asked.value += 1)} />;
}

/** Loads the page, and loads it again while its work goes on. */
function load(id: string, page: Signal<RequestPage | undefined>, problem: Signal<string>): () => void {
  const leaving = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = async (): Promise<void> => {
    try {
      const found = await getJson<RequestPage>(`/api/request?id=${encodeURIComponent(id)}`, leaving.signal);
      page.value = found;
      problem.value = '';
      if (isUnderWay(found)) timer = setTimeout(() => void look(), LOOK_AGAIN_MS);
    } catch (error) {
      if (isAborted(error)) return;
      if (page.peek() === undefined) problem.value = messageOf(error);
      if (isPassing(error)) timer = setTimeout(() => void look(), LOOK_AGAIN_MS);
    }
  };
  void look();
  return () => {
    leaving.abort();
    clearTimeout(timer);
  };
}

interface ContentProps {
  readonly page: RequestPage;
  readonly onChanged: () => void;
}

function RequestContent({ page, onChanged }: ContentProps): JSX.Element {
  const { now, kept } = page;
  const isRepeat = page.stored.notes.some(({ code }) => code === 'repeat');
  return (
    <article class="request">
      <RequestHead page={page} />
      {(page.asked ?? []).map((prompt, index) => (
        <section key={index} class="asked" aria-label="What the run will read">
          <h2>What the run will read</h2>
          <ShownBlock text={prompt} />
        </section>
      ))}
      <StoryView page={page} onChanged={onChanged}>
        {mayOperate.value && <AuthorActions page={page} />}
      </StoryView>
      <div class={kept === undefined ? 'columns single' : 'columns'}>
        <div class="story">
          <Why page={page} />
          {now !== undefined && !isRepeat && <WhatItBecame judgement={now} />}
          {now !== undefined && isRepeat && <WhatWasNotMade judgement={now} />}
          <Section title="What happened">
            <WorkView page={page} onChanged={onChanged} />
          </Section>
        </div>
        {kept !== undefined && <Content page={page} kept={kept} />}
      </div>
    </article>
  );
}

function Why({ page }: { readonly page: RequestPage }): JSX.Element {
  const { now, nowProblem, stored } = page;
  return (
    <Section
      title="Why"
      {...(page.isByThen && { remark: 'by the mappings and transforms as they were then' })}
    >
      {now !== undefined && <WhyView judgement={now} />}
      {nowProblem !== undefined && <p class="problem">It cannot be judged now: {nowProblem}.</p>}
      {page.isByThen && !stored.notes.some(({ code }) => code === 'judged_otherwise') && (
        <p class="quiet">The mappings and transforms of now judge it alike.</p>
      )}
      <NoteList notes={stored.notes} />
    </Section>
  );
}

function WhatItBecame({ judgement }: { readonly judgement: Judgement }): JSX.Element {
  const { transforms, templates, actions } = judgement;
  return (
    <>
      <Section title="Transform" isEmpty={transforms.length === 0}>
        <TransformView judgement={judgement} />
      </Section>
      <Section
        title="Templates"
        remark="each piece leads to the value it came from"
        isEmpty={templates.length === 0}
      >
        <TemplateList judgement={judgement} />
      </Section>
      <Section title="Actions" isEmpty={actions.length === 0}>
        <PromptView judgement={judgement} />
      </Section>
    </>
  );
}

/** Shows in short what a repeat would have become as a new event. */
function WhatWasNotMade({ judgement: { actions } }: { readonly judgement: Judgement }): JSX.Element {
  return (
    <Section
      title="Not made"
      remark="it is a repeat; a new event would have become this"
      isEmpty={actions.length === 0}
    >
      {actions.map((action) => (
        <p class="quiet" key={action.id}>
          {action.kind} <ShownText text={action.kind === 'wake' ? action.mode : action.name} />
          {action.dedupe !== undefined && (
            <>
              ; its dedupe key <ShownText text={action.dedupe.key} /> was there already
            </>
          )}
        </p>
      ))}
    </Section>
  );
}

function RequestHead({ page }: { readonly page: RequestPage }): JSX.Element {
  const { row, kept, id } = page;
  return (
    <header class="request-head">
      <h1 tabIndex={-1}>
        <ShownText text={row?.path ?? kept?.path ?? id} />
      </h1>
      {row !== undefined && <OutcomeLabel row={row} />}
      <FactsLine page={page} />
    </header>
  );
}

function FactsLine({ page: { row, id, now } }: { readonly page: RequestPage }): JSX.Element {
  const at = now?.mapping?.at;
  return (
    <p class="facts-line">
      {row !== undefined && (
        <>
          <time dateTime={new Date(row.at).toISOString()}>{formatDate(row.at)}</time>
          <span>{formatBody(row.bytes)}</span>
          <span>{formatMs(row.tookMs)}</span>
        </>
      )}
      {row?.mapping !== undefined && (
        <span>
          {row.mapping} {at !== undefined && <Place at={at} />}
        </span>
      )}
      {row?.replayOf !== undefined && (
        <span>
          replay of <a href={`/request/${row.replayOf}`}>{row.replayOf}</a>
        </span>
      )}
      {row?.replays?.map(({ requestId, outcome }) => (
        <span key={requestId}>
          replayed as <a href={`/request/${requestId}`}>{requestId}</a> ({outcome})
        </span>
      ))}
      <button
        type="button"
        class="link id"
        title="Copy the command that explains this request"
        onClick={() => copy(`sluice explain ${id}`)}
      >
        {id}
      </button>
    </p>
  );
}

/**
 * Returns the place of the mapping that matched, or of the nearest that did not, or of a hook name that may
 * have been meant.
 */
function placeToChange({ mapping, notes }: Judgement): string | undefined {
  const near = notes.find(({ code }) => code === 'not_held') ?? notes.find(({ at }) => at !== undefined);
  return mapping?.at ?? near?.mapping?.at ?? near?.at;
}

async function makeMapping(id: string): Promise<void> {
  try {
    const { file } = await postJson<{ readonly file: string }>('/api/new', { request: id });
    goTo(`/author?request=${id}&at=${encodeURIComponent(`${file}:1:1`)}`);
  } catch (error) {
    say(messageOf(error));
  }
}

/** Only a stored request offers every action. */
function AuthorActions({ page: { id, now, row, kept } }: { readonly page: RequestPage }): JSX.Element {
  const at = now === undefined ? undefined : placeToChange(now);
  const place = at === undefined ? '' : `&at=${encodeURIComponent(at)}`;
  return (
    <>
      {kept !== undefined && (
        <a class="button" href={`/author?request=${id}${place}`}>
          Try a change
        </a>
      )}
      {kept !== undefined && row?.outcome === 'rejected' && <a href={`/replay?text=${id}`}>Replay</a>}
      {mayWrite.value && row?.path !== '' && (
        <button type="button" onClick={() => void makeMapping(id)}>
          New mapping from this request
        </button>
      )}
    </>
  );
}

function Section(props: {
  readonly title: string;
  readonly remark?: string;
  /** An empty section is not shown; default false. */
  readonly isEmpty?: boolean;
  readonly children: unknown;
}): JSX.Element | null {
  return props.isEmpty === true ? null : (
    <section>
      <h2>
        {props.title} {props.remark !== undefined && <span class="quiet small">{props.remark}</span>}
      </h2>
      {props.children as JSX.Element}
    </section>
  );
}

const PARTS = ['Payload', 'Headers', 'Query', 'Answer'] as const;

function Content({ page, kept }: { readonly page: RequestPage; readonly kept: KeptContent }): JSX.Element {
  const tab = useSignal<(typeof PARTS)[number]>('Payload');
  const { headers, query } = kept;
  const names = PARTS.filter((name) => name !== 'Query' || Object.keys(query).length > 0);
  const payload = useMemo(() => parseExact(kept.payload), [kept.payload]);
  const values = { Payload: payload, Headers: headers, Query: query, Answer: answerOf(page) };
  const name = tab.value.toLowerCase();
  const text = tab.value === 'Payload' ? kept.payload : JSON.stringify(values[tab.value], undefined, 2);
  // A piece of a text leads to its value, so the tab with the value is shown.
  useSignalEffect(() => {
    const pointed = PARTS.find((one) => pointedPath.value.startsWith(`${one.toLowerCase()}.`));
    if (pointed !== undefined) tab.value = pointed;
  });
  return (
    <aside class="content" aria-label="The request">
      <Tabs label="Parts of the request" names={names} tab={tab}>
        <button type="button" class="link" onClick={() => copy(text, `the ${name}`)}>
          Copy as JSON
        </button>
        <PayloadTree
          key={name}
          root={name}
          value={values[tab.value]}
          label={name}
          action="Copy the path"
          onChoose={copy}
        />
        {tab.value === 'Answer' && (
          <p class="quiet small">What is known of it: its sentences are not kept.</p>
        )}
      </Tabs>
    </aside>
  );
}

/** Returns the fields of the answer that the decision has, and the header that names the request. */
function answerOf({ id, row }: RequestPage): Readonly<Record<string, ExactValue>> {
  const { status = 0, outcome, code, work = [] } = row ?? {};
  return {
    'x-request-id': id,
    status,
    ok: outcome !== 'rejected',
    ...(code === undefined ? {} : { code }),
    ...(work.length === 0 ? {} : { ids: [...work] }),
  };
}
