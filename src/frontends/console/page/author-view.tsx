/** Shows an editor for mappings and transforms, and what a change would do. */
import * as author from './author-store.ts';
import { effect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ShownFinding } from '../protocol.ts';
import { createEditor, type Editor } from './editor.ts';
import { count, formatTime } from './format.ts';
import { mayWrite } from './inbox-store.ts';
import { place } from './navigation.ts';
import { NoteList } from './note-list.tsx';
import { Label } from './outcome-label.tsx';
import { RequestTrees } from './payload-tree.tsx';
import { PromptView } from './prompt-view.tsx';
import { plainText, ShownText } from './shown-text.tsx';
import { TemplateList } from './template-view.tsx';
import { copy } from './toast.ts';
import { TransformView, WhyView } from './trace-view.tsx';

const keep = (): unknown => (mayWrite.peek() ? author.save() : copy(author.text.peek(), 'the text'));
const reopen = (): unknown => author.opened.value && author.openFile(author.opened.value.name);

export function AuthorView(): JSX.Element {
  const editor = useRef<Editor | undefined>(undefined);
  useEffect(() => {
    const { query } = place.peek();
    return author.startAuthor({ id: query.get('request') ?? '', at: query.get('at') ?? '' });
  }, []);
  return (
    <div class="author">
      <section class="file" aria-label="File">
        <h1 class="unseen">Author</h1>
        <FileBar />
        {author.isChangedOutside.value && <ChangedOutside />}
        {author.problem.value !== '' && (
          <p class="problem" role="alert">
            {author.problem.value}
          </p>
        )}
        <EditorBox editor={editor} />
        <Findings onChoose={(finding) => editor.current?.goTo(finding)} />
      </section>
      <Side onInsert={(path) => editor.current?.insertPath(path)} />
    </div>
  );
}

function FileChoice(): JSX.Element {
  return (
    <select
      aria-label="File"
      value={author.opened.value?.name ?? ''}
      disabled={author.isDirty.value}
      title={author.isDirty.value ? 'Save or discard the change first' : 'File'}
      onChange={(event) => void author.openFile(event.currentTarget.value)}
    >
      {author.files.value.map(({ name }) => (
        <option key={name} value={name}>
          {plainText(name)}
        </option>
      ))}
    </select>
  );
}

function FileBar(): JSX.Element {
  return (
    <p class="bar">
      <FileChoice />
      <button type="button" class="primary" disabled={!author.isDirty.value} onClick={keep}>
        {mayWrite.value ? 'Save' : 'Copy the text'}
      </button>
      <button type="button" disabled={!author.isDirty.value} onClick={reopen}>
        Discard
      </button>
      <span class="quiet small" role="status">
        {author.isDirty.value ? 'not saved; the live mappings are as they were' : ''}
      </span>
    </p>
  );
}

/** Two people, or two programs, may write the same file, so neither must lose its text. */
function ChangedOutside(): JSX.Element {
  return (
    <p class="note" role="alert">
      The file on the disk was changed meanwhile, so this text was not written over it. Copy what you need,
      then{' '}
      <button type="button" class="link" onClick={reopen}>
        read the file again
      </button>
      .
    </p>
  );
}

function EditorBox({ editor }: { readonly editor: { current?: Editor | undefined } }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (box.current === null) return undefined;
    const made = createEditor({ parent: box.current, onChange: author.changed, onSave: keep });
    editor.current = made;
    const stops = [effect(() => showOpened(made)), effect(() => made.show(author.findings.value))];
    return () => {
      for (const stop of stops) stop();
      made.destroy();
      editor.current = undefined;
    };
  }, []);
  return <div class="editor" ref={box} />;
}

function showOpened(editor: Editor): void {
  const file = author.readings.value === 0 ? undefined : author.opened.peek();
  if (file === undefined) return;
  // A text that was being changed when the view was left is still there.
  editor.open(file.name, author.text.peek());
  if (author.wantedLine.peek() > 0) editor.goToLine(author.wantedLine.peek());
  author.wantedLine.value = 0;
}

const placeOf = ({ file, line = 1, column = 1 }: ShownFinding): string =>
  file === undefined ? '' : `${file}:${line}:${column}`;

function Findings({ onChoose }: { readonly onChoose: (finding: ShownFinding) => void }): JSX.Element {
  const name = author.opened.value?.name;
  const own = author.findings.value.filter(({ file }) => file === name);
  const others = author.findings.value.filter(({ file }) => file !== name);
  return (
    <div class="findings" aria-live="polite" aria-label="Findings">
      {author.findings.value.length === 0 && (
        <p class="quiet small">{author.busy.value === 'draft' ? 'checking…' : 'no findings'}</p>
      )}
      {[...own, ...others].map((finding, index) => (
        <button
          key={index}
          type="button"
          class={`finding ${finding.severity}`}
          disabled={finding.file !== name}
          onClick={() => onChoose(finding)}
        >
          <strong>
            {finding.severity} {finding.code}
          </strong>{' '}
          <ShownText text={finding.message} /> <span class="place">{placeOf(finding)}</span>{' '}
          {finding.hint !== undefined && (
            <span class="hint">
              <ShownText text={finding.hint} />
            </span>
          )}
        </button>
      ))}
    </div>
  );
}

function Side({ onInsert }: { readonly onInsert: (path: string) => void }): JSX.Element {
  return (
    <section class="side" aria-label="What the change does">
      <RequestChoice />
      <details open>
        <summary>Result</summary>
        <Result />
      </details>
      <details>
        <summary>
          <ChangeCount />
        </summary>
        <ImpactView />
      </details>
      <details>
        <summary>Payload</summary>
        <Payload onInsert={onInsert} />
      </details>
    </section>
  );
}

function ChangeCount(): JSX.Element {
  const found = author.impact.value;
  if (found === undefined) return <>Changes{author.busy.value === '' ? '' : ' …'}</>;
  const all = found.kept + found.golden;
  return (
    <span class={found.changes.length > 0 ? 'changed' : ''}>
      {found.changes.length} of {all} would change{author.busy.value === '' ? '' : ' …'}
    </span>
  );
}

function RequestChoice(): JSX.Element {
  const isListed = author.choices.value.some(({ id }) => id === author.requestId.value);
  return (
    <label class="bar">
      <span class="quiet small">Request</span>
      <select
        value={author.requestId.value}
        onChange={(event) => void author.chooseRequest(event.currentTarget.value)}
      >
        <option value="">none</option>
        {!isListed && author.requestId.value !== '' && (
          <option value={author.requestId.value}>{author.requestId.value}</option>
        )}
        {author.choices.value.map(({ id, path, at, status, outcome }) => (
          <option key={id} value={id}>
            {formatTime(at)} {plainText(path, 40)} {status} {outcome}
          </option>
        ))}
      </select>
    </label>
  );
}

function Result(): JSX.Element {
  const found = author.judgement.value;
  if (author.requestId.value === '')
    return <p class="quiet">Choose a request to see what it becomes while you type.</p>;
  if (author.request.value !== undefined && author.request.value.content === undefined)
    return <NoteList notes={author.request.value.stored.notes.filter(({ code }) => code === 'not_kept')} />;
  if (found === undefined)
    return <p class="quiet">{author.busy.value === '' ? 'nothing to show yet' : 'working it out…'}</p>;
  return (
    <div class="result">
      <h2 class="unseen">Result</h2>
      <p>
        <Label tone={found.outcome} text={found.outcome} /> {found.mapping?.id}{' '}
        {found.actions.length > 0 && <span class="quiet">{count(found.actions.length, 'action')}</span>}
      </p>
      <WhyView judgement={found} />
      <TransformView judgement={found} />
      <TemplateList judgement={found} />
      <PromptView judgement={found} />
    </div>
  );
}

function Payload({ onInsert }: { readonly onInsert: (path: string) => void }): JSX.Element {
  const content = author.request.value?.content;
  if (content === undefined) return <p class="quiet">The request was not kept.</p>;
  return (
    <>
      <p class="quiet small">Choose a value to put its path into the file.</p>
      <RequestTrees content={content} action="Insert the path" onChoose={onInsert} />
    </>
  );
}

const OPEN = 3;

function ImpactView(): JSX.Element {
  const found = author.impact.value;
  if (found === undefined) {
    return (
      <p class="quiet">
        {author.busy.value === '' ? 'A file with errors cannot be tried.' : 'trying all requests…'}
      </p>
    );
  }
  const { kept, golden, changes } = found;
  return (
    <>
      <p class="quiet">
        {count(kept, 'kept request')}, {count(golden, 'golden case')}; nothing was sent or performed
      </p>
      {changes.map(({ name, kind, difference }, index) => (
        <details key={name} open={index < OPEN}>
          <summary>
            <span class="quiet">{kind}</span>{' '}
            {kind === 'kept' ? <a href={`/request/${name}`}>{name}</a> : name}
          </summary>
          <pre class="difference">
            {difference.split('\n').map((line, number) => (
              <div key={number} class={{ '+': 'added', '-': 'removed' }[line[0] ?? ''] ?? ''}>
                <ShownText text={line} />
              </div>
            ))}
          </pre>
        </details>
      ))}
    </>
  );
}
