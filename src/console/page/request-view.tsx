/** One request: what it was, why it became what it is, and what became of it. */
import { useSignal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { EvaluationJson, KeptTrace } from '../../hook/hook.ts';
import type { Judgement, KeptContent, RequestPage } from '../protocol.ts';
import { getJson, isAborted, messageOf } from './api.ts';
import { parseExact } from './exact-json.ts';
import { formatBytes, formatDate, formatMs } from './format.ts';
import { GoldenForm } from './golden-form.tsx';
import { state } from './inbox-store.ts';
import { OutcomeLabel } from './outcome-label.tsx';
import { PayloadTree, pointedPath } from './payload-tree.tsx';
import { PromptView } from './prompt-view.tsx';
import { ShownText } from './shown-text.tsx';
import { copy } from './toast.ts';
import { Place, TemplateView } from './template-view.tsx';
import { TransformView, WhyView } from './trace-view.tsx';
import { isUnderWay, WorkView } from './work-view.tsx';

/** How often a request whose work goes on is looked at again. */
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

/** Loads the page, and again while its work goes on. */
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
      if (!isAborted(error) && page.peek() === undefined) problem.value = messageOf(error);
    }
  };
  void look();
  return () => {
    leaving.abort();
    clearTimeout(timer);
  };
}

function RequestContent({
  page,
  onChanged,
}: {
  readonly page: RequestPage;
  readonly onChanged: () => void;
}): JSX.Element {
  const { now, kept } = page;
  const isDev = state.value?.mode === 'dev';
  return (
    <article class="request">
      <RequestHead page={page} isDev={isDev} />
      <div class={kept === undefined ? 'columns single' : 'columns'}>
        <div class="story">
          <Section title="Why">
            {now !== undefined && <WhyView judgement={now} />}
            {page.nowProblem !== undefined && (
              <p class="problem">It cannot be judged now: {page.nowProblem}.</p>
            )}
            {kept === undefined && <NotKept page={page} />}
            {now !== undefined && page.stored.judged !== undefined && (
              <Differently then={page.stored.judged} now={now} />
            )}
          </Section>
          {now !== undefined && now.transforms.length > 0 && (
            <Section title="Transform">
              <TransformView judgement={now} />
            </Section>
          )}
          {now !== undefined && now.templates.length > 0 && (
            <Section title="Templates" remark="each piece leads to the value it came from">
              {now.templates.map((template) => (
                <TemplateView
                  key={`${template.field}${template.index ?? ''}`}
                  template={template}
                  advice={now.advice}
                />
              ))}
            </Section>
          )}
          {now !== undefined && now.actions.length > 0 && (
            <Section title="Actions">
              <PromptView judgement={now} />
            </Section>
          )}
          <Section title="What happened">
            <WorkView page={page} mayChange={isDev} onChanged={onChanged} />
          </Section>
        </div>
        {kept !== undefined && <Content kept={kept} removed={page.removed} />}
      </div>
    </article>
  );
}

function RequestHead({ page, isDev }: { readonly page: RequestPage; readonly isDev: boolean }): JSX.Element {
  const { row, kept, id, now } = page;
  const at = now?.mapping?.at;
  return (
    <header class="request-head">
      <h1 tabIndex={-1}>
        <ShownText text={row?.path ?? kept?.path ?? id} />
      </h1>
      {row !== undefined && <OutcomeLabel row={row} />}
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
        <button
          type="button"
          class="link id"
          title="Copy the command that explains this request"
          onClick={() => copy(`sluice explain ${id}`)}
        >
          {id}
        </button>
      </p>
      {isDev && kept !== undefined && (
        <p class="actions">
          <a
            class="button"
            href={`/author?request=${id}${at === undefined ? '' : `&at=${encodeURIComponent(at)}`}`}
          >
            Try a change
          </a>
          <GoldenForm id={id} />
        </p>
      )}
    </header>
  );
}

function Section(props: {
  readonly title: string;
  readonly remark?: string;
  readonly children: unknown;
}): JSX.Element {
  return (
    <section>
      <h2>
        {props.title} {props.remark !== undefined && <span class="quiet small">{props.remark}</span>}
      </h2>
      {props.children as JSX.Element}
    </section>
  );
}

/** What a decision says without the request: the words of the operator's own files. */
function NotKept({ page }: { readonly page: RequestPage }): JSX.Element {
  const { notKept, remedy } = page;
  const { missed = [], empty = [], refusal, detail } = page.stored.decision ?? {};
  return (
    <>
      {detail !== undefined && (
        <p class="problem">
          <ShownText text={detail} />
        </p>
      )}
      {refusal !== undefined && (
        <p class="problem">
          <ShownText text={refusal.text} />
        </p>
      )}
      {remedy !== undefined && <p class="hint">{remedy}</p>}
      {missed.map(({ mappingId, part, place = '', leaf = '', variable }) => (
        <p class="considered rejected" key={mappingId + place}>
          <strong>{mappingId}</strong> {part}{' '}
          <code>
            <ShownText text={leaf} />
          </code>{' '}
          did not hold
          {variable !== undefined && <> ({variable} is missing)</>} <Place at={place} />
        </p>
      ))}
      {empty.map(({ field, expression, place }) => (
        <p key={field + place}>
          {field}: <code>{expression}</code> rendered empty <Place at={place} />
        </p>
      ))}
      <p class="quiet">{notKept}</p>
    </>
  );
}

function summaryOf({
  outcome,
  mapping,
  error,
  actions,
}: Pick<EvaluationJson, 'outcome' | 'mapping' | 'error'> & { readonly actions: readonly unknown[] }): string {
  const code = error === undefined ? '' : ` ${error.status} ${error.code}`;
  return `${outcome}${code}, mapping ${mapping?.id ?? 'none'}, ${actions.length} action${actions.length === 1 ? '' : 's'}`;
}

/** When it came, other files may have been in service. */
function Differently({
  then,
  now,
}: {
  readonly then: KeptTrace;
  readonly now: Judgement;
}): JSX.Element | null {
  const [was, is] = [summaryOf(then), summaryOf(now)];
  if (was === is) return null;
  return (
    <p class="note">
      When it came, it was judged otherwise: {was} (generation {then.generation}). With the files as they are:{' '}
      {is}.
    </p>
  );
}

function Content({
  kept,
  removed,
}: {
  readonly kept: KeptContent;
  readonly removed: readonly string[];
}): JSX.Element {
  const { payload, headers, query } = kept;
  return (
    <aside class="content" aria-label="The request">
      <h2>Payload</h2>
      <PayloadTree
        root="payload"
        value={parseExact(payload)}
        label="payload"
        action="Copy the path"
        onChoose={copy}
      />
      <h2>Headers</h2>
      <PayloadTree root="headers" value={headers} label="headers" action="Copy the path" onChoose={copy} />
      {Object.keys(query).length > 0 && (
        <>
          <h2>Query</h2>
          <PayloadTree root="query" value={query} label="query" action="Copy the path" onChoose={copy} />
        </>
      )}
      {removed.length > 0 && (
        <p class="quiet small">Not kept, because they are secrets: {removed.join(', ')}</p>
      )}
    </aside>
  );
}
