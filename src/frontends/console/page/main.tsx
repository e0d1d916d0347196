import { signal } from '@preact/signals';
import { render, type JSX, type ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { follow } from './follow.tsx';
import { connection, filterQuery, look, mayOperate, state } from './inbox-store.ts';
import { InboxView, openId, readOpen, step } from './inbox-view.tsx';
import { followLink, goTo, place } from './navigation.ts';
import { ListView, VIEWS } from './list-view.tsx';
import { OverviewView } from './overview-view.tsx';
import { BatchProgress } from './progress.tsx';
import { ReplayView } from './replay-view.tsx';
import { RequestView } from './request-view.tsx';
import { toast } from './toast.ts';

/** The editor is large, so it is loaded when it is opened. */
const author = signal<{ readonly View?: ComponentType; readonly said: string }>({ said: 'Loading…' });
function AuthorView(): JSX.Element {
  useEffect(() => {
    import('./author-view.tsx').then(
      ({ AuthorView: View }) => (author.value = { View, said: '' }),
      () => (author.value = { said: 'the editor could not be loaded; is the service running?' }),
    );
  }, []);
  const { View, said } = author.value;
  return View === undefined ? <p class="empty quiet">{said}</p> : <View />;
}

const isHelpOpen = signal(false);
/** On a narrow screen the views are one menu. */
const isMenuOpen = signal(false);

function App(): JSX.Element {
  const { path } = place.value;
  const id = openId();
  const isWide = path === '/author' || Object.hasOwn(VIEWS, path);
  return (
    <div class={`app ${layoutOf(path, id)}`} onClick={followLink}>
      <TopBar path={path} />
      <BatchProgress />
      {isWide ? (
        <main id="main" class={path === '/author' ? '' : 'wide'}>
          {path === '/author' ? <AuthorView /> : <ListView key={path + place.value.query.toString()} />}
        </main>
      ) : (
        <main id="main" class="split">
          <InboxView />
          <section id="detail" class="detail" aria-label="Request" tabIndex={0}>
            <Detail id={id} />
          </section>
        </main>
      )}
      {isHelpOpen.value && <Help />}
      <p class="toast" role="status">
        {toast.value}
      </p>
    </div>
  );
}

/** The class by which the style sheet lays the page out. */
function layoutOf(path: string, id: string): string {
  if (path === '/author') return 'author-app';
  if (id !== '' || path === '/replay') return 'with-detail';
  return filterQuery() === '' ? 'at-first' : '';
}

function Detail({ id }: { readonly id: string }): JSX.Element {
  if (place.value.path === '/replay' && mayOperate.value) return <ReplayView />;
  return id === '' ? <OverviewView /> : <RequestView id={id} key={id} />;
}

function TopBar({ path }: { readonly path: string }): JSX.Element {
  const views = Object.entries(VIEWS).map(([href, { title }]) => [href, title] as const);
  const current = path === '/author' || Object.hasOwn(VIEWS, path) ? path : '/';
  return (
    <header class="top">
      <a class="brand" href="/">
        <img src="/assets/icon.svg" alt="" width="22" height="22" /> Sluice
      </a>
      <button
        type="button"
        class="menu"
        aria-expanded={isMenuOpen.value}
        aria-controls="views"
        onClick={() => (isMenuOpen.value = !isMenuOpen.value)}
      >
        Menu
      </button>
      <nav
        id="views"
        aria-label="Views"
        class={isMenuOpen.value ? 'open' : ''}
        onClick={() => (isMenuOpen.value = false)}
      >
        {[['/', 'Inbox'], ...views, ...(mayOperate.value ? [['/author', 'Author']] : [])].map(
          ([href, title]) => (
            <a key={href} href={href} aria-current={current === href ? 'page' : undefined}>
              {title}
            </a>
          ),
        )}
      </nav>
      <Status />
    </header>
  );
}

function Status(): JSX.Element {
  return (
    <p class="status">
      {!mayOperate.value && <span class="badge">read only</span>}
      <span class={`connection ${connection.value}`}>
        <span class="dot" aria-hidden="true" />
        {connection.value === 'lost' ? 'reconnecting' : connection.value}
      </span>
      <span class="generation quiet" title="The generation of files that is live">
        {state.value?.generation}
      </span>
      <button
        type="button"
        class="link"
        aria-label="Keys"
        onClick={() => (isHelpOpen.value = !isHelpOpen.value)}
      >
        ?
      </button>
    </p>
  );
}

/** A key without an action has its code elsewhere. */
const KEYS: readonly (readonly [key: string, what: string, act?: () => unknown])[] = [
  ['j', 'next request', () => step(1)],
  ['k', 'previous request', () => step(-1)],
  ['Enter', 'read the open request', readOpen],
  ['/', 'search', () => document.querySelector<HTMLInputElement>('#search')?.focus()],
  ['g i', 'inbox', () => goTo('/')],
  ['g m', 'mappings', () => goTo('/mappings')],
  ['g r', 'runs', () => goTo('/runs')],
  ['g c', 'conversations', () => goTo('/conversations')],
  ['g d', 'deliveries', () => goTo('/deliveries')],
  ['g a', 'author', () => mayOperate.value && goTo('/author')],
  ['Esc', 'back to the list'],
  ['Ctrl S', 'save the file in the editor'],
  ['?', 'these keys', () => (isHelpOpen.value = !isHelpOpen.value)],
];

function Help(): JSX.Element {
  return (
    <dialog class="help" open aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => (isHelpOpen.value = false)}>
        Close
      </button>
    </dialog>
  );
}

let before = '';

function onKey(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const isWriting = target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  if (event.key === 'Escape') {
    leave(target, isWriting);
    return;
  }
  if (isWriting || event.metaKey || event.ctrlKey || event.altKey) return;
  // A control that can be pressed handles Enter itself.
  if (event.key === 'Enter' && target.closest('a, button, summary, [role=treeitem]') !== null) return;
  const keys = `${before}${event.key}`;
  before = event.key === 'g' ? 'g ' : '';
  const [, , act] = KEYS.find(([key]) => key === keys) ?? KEYS.find(([key]) => key === event.key) ?? [];
  if (act === undefined) return;
  event.preventDefault();
  act();
}

function leave(target: HTMLElement, isWriting: boolean): void {
  if (isHelpOpen.value || isMenuOpen.value) isHelpOpen.value = isMenuOpen.value = false;
  else if (isWriting && target.closest('.cm-editor') === null) target.blur();
  else if (openId() !== '' || place.value.path === '/replay') goTo(`/${filterQuery()}`);
}

addEventListener('keydown', onKey);
const root = document.querySelector('#app');
if (root !== null) render(<App />, root);
follow(look);
