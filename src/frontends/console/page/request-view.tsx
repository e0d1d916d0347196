/** Shows one request: what it was, why it became what it is, and what became of it. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Judgement, RequestPage } from '../protocol.ts';
import { messageOf, postJson } from './api.ts';
import { useAnswer, Wait } from './follow.tsx';
import { formatBytes, formatDate, formatMs } from './format.ts';
import { mayOperate, mayWrite, state } from './inbox-store.ts';
import { goTo } from './navigation.ts';
import { NoteList } from './note-list.tsx';
import { OutcomeLabel } from './outcome-label.tsx';
import { pointedPath, RequestTrees } from './payload-tree.tsx';
import { PromptView } from './prompt-view.tsx';
import { ShownBlock, ShownText } from './shown-text.tsx';
import { StoryView } from './story-view.tsx';
import { copy, say } from './toast.ts';
import { Place, TemplateList } from './template-view.tsx';
import { TransformView, WhyView } from './trace-view.tsx';
import { isUnderWay, WorkView } from './work-view.tsx';

/** A request whose work goes on is looked at again after this time. */
const LOOK_MS = 1_500;

export function RequestView({ id }: { readonly id: string }): JSX.Element {
  const every = (page: RequestPage): number => (isUnderWay(page) ? LOOK_MS : 0);
  const address = `/api/request?id=${encodeURIComponent(id)}`;
  const { answer, problem, again } = useAnswer(address, every, [state.value?.generation]);
  useEffect(() => {
    pointedPath.value = '';
  }, [id]);
  if (answer.value === undefined) return <Wait problem={problem.value} />;
  return <RequestContent page={answer.value} onChanged={again} />;
}

interface ContentProps {
  readonly page: RequestPage;
  readonly onChanged: () => void;
}

function RequestContent({ page, onChanged }: ContentProps): JSX.Element {
  const { now, content, asked = [] } = page;
  const isRepeat = page.stored.notes.some(({ code }) => code === 'repeat');
  return (
    <article class="request">
      <RequestHead page={page} />
      {asked.map((prompt, index) => (
        <section key={index} class="asked" aria-label="What the run will read">
          <h2>What the run will read</h2>
          <ShownBlock text={prompt} />
        </section>
      ))}
      <StoryView page={page} onChanged={onChanged}>
        {mayOperate.value && <AuthorActions page={page} />}
      </StoryView>
      <div class={content === undefined ? 'columns single' : 'columns'}>
        <div class="story">
          <Why page={page} />
          {now !== undefined && !isRepeat && asked.length === 0 && <WhatItBecame judgement={now} />}
          <Section title="What happened">
            <WorkView page={page} onChanged={onChanged} />
          </Section>
        </div>
        {content !== undefined && (
          <aside class="content" aria-label="The request">
            <RequestTrees content={content} action="Copy the path" onChoose={copy} />
          </aside>
        )}
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

function RequestHead({ page }: { readonly page: RequestPage }): JSX.Element {
  const { row, content, id } = page;
  return (
    <header class="request-head">
      <h1 tabIndex={-1}>
        <ShownText text={row?.path ?? content?.path ?? id} />
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
          <span>{formatBytes(row.bytes)}</span>
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
function AuthorActions({ page: { id, now, row, content } }: { readonly page: RequestPage }): JSX.Element {
  const at = now === undefined ? undefined : placeToChange(now);
  const place = at === undefined ? '' : `&at=${encodeURIComponent(at)}`;
  return (
    <>
      {content !== undefined && (
        <a class="button" href={`/author?request=${id}${place}`}>
          Try a change
        </a>
      )}
      {content !== undefined && row?.outcome === 'rejected' && <a href={`/replay?text=${id}`}>Replay</a>}
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
