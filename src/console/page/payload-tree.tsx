/*
 * A payload as a tree. What is closed costs nothing: a list of 100,000 keys shows a hundred and asks; a text of five
 * megabytes shows its beginning. Arrow keys walk it as every tree; Enter chooses a value.
 */
import { signal, useComputed, useSignal, type ReadonlySignal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ExactText, kindOf, sizeOf, type Value } from './exact-json.ts';
import { count, formatBytes } from './format.ts';
import { plainText, ShownText } from './shown-text.tsx';
import { CHUNK, findHits, type Hits, type Line, listLines, type Opened } from './tree-lines.ts';

/** The path that is pointed at: a piece of a text, or a value of the tree. */
export const pointedPath = signal('');

const MAX_TEXT = 160;
const MAX_OPEN_TEXT = 20_000;
export interface PayloadTreeProps {
  /** Name of the root: payload, headers, query. */
  readonly root: string;
  readonly value: Value;
  readonly label: string;
  /** What choosing a value does, for its title. */
  readonly action: string;
  readonly onChoose: (path: string) => void;
}

export function PayloadTree(props: PayloadTreeProps): JSX.Element {
  const { root, value, label } = props;
  const opened = useSignal<Opened>(new Map());
  const shownOf = useSignal<ReadonlyMap<string, number>>(new Map());
  const search = useSignal('');
  const content = useSignal(value);
  content.value = value;
  const hits = useComputed(() => findHits(content.value, root, search.value.trim().toLowerCase()));
  const lines = useComputed(() =>
    listLines(content.value, root, { opened: opened.value, shownOf: shownOf.value, hits: hits.value }),
  );
  return (
    <div class="tree-box">
      <TreeSearch root={root} label={label} search={search} hits={hits} />
      <TreeLines {...props} tree={{ content, opened, shownOf, lines }} />
    </div>
  );
}

interface TreeSearchProps extends Pick<PayloadTreeProps, 'root' | 'label'> {
  readonly search: Signal<string>;
  readonly hits: ReadonlySignal<Hits | undefined>;
}

function TreeSearch({ root, label, search, hits }: TreeSearchProps): JSX.Element {
  return (
    <>
      <input
        type="search"
        class="tree-search"
        placeholder={`Search ${root}`}
        aria-label={`Search ${label}`}
        onInput={(event) => (search.value = event.currentTarget.value)}
      />
      {hits.value !== undefined && (
        <p class="quiet small" aria-live="polite">
          {hits.value.text}
        </p>
      )}
    </>
  );
}

interface TreeLinesProps extends PayloadTreeProps {
  readonly tree: {
    readonly content: ReadonlySignal<Value>;
    readonly opened: Signal<Opened>;
    readonly shownOf: Signal<ReadonlyMap<string, number>>;
    readonly lines: ReadonlySignal<readonly Line[]>;
  };
}

function TreeLines({ root, label, action, onChoose, tree }: TreeLinesProps): JSX.Element {
  const { content, opened, shownOf, lines } = tree;
  const current = useSignal(root);
  const box = useRef<HTMLDivElement>(null);
  useReveal(root, content, opened, box);
  const toggle = (path: string, isOpen: boolean): void => {
    opened.value = new Map(opened.value).set(path, isOpen);
  };
  const act = (line: Line): void => {
    if (line.more !== undefined) showMore(shownOf, line.path);
    else if (sizeOf(line.value) > 0) toggle(line.path, !line.isOpen);
    else onChoose(line.path);
  };
  return (
    <div
      class="tree"
      role="tree"
      aria-label={label}
      tabIndex={0}
      ref={box}
      aria-activedescendant={`${label}:${current.value}`}
      onKeyDown={(event) => walk(event, { lines, current, toggle, act })}
    >
      {lines.value.map((line) => (
        <TreeLine
          key={`${line.path}${line.more === undefined ? '' : ' more'}`}
          line={line}
          label={label}
          isCurrent={current.value === line.path && line.more === undefined}
          action={action}
          onToggle={() => act(line)}
          onChoose={() => onChoose(line.path)}
        />
      ))}
    </div>
  );
}

function showMore(shownOf: Signal<ReadonlyMap<string, number>>, path: string): void {
  shownOf.value = new Map(shownOf.value).set(path, (shownOf.value.get(path) ?? CHUNK) + 10 * CHUNK);
}

/** Opens the way to the path that is pointed at, and brings it into sight. */
function useReveal(
  root: string,
  content: ReadonlySignal<Value>,
  opened: Signal<Opened>,
  box: { readonly current: HTMLDivElement | null },
): void {
  const path = pointedPath.value;
  useEffect(() => {
    if (path !== root && !path.startsWith(`${root}.`)) return;
    opened.value = withWayOpen(opened.peek(), root, path);
    requestAnimationFrame(() => {
      if (box.current !== null) showPointed(box.current);
    });
  }, [path, content.value]);
}

function withWayOpen(opened: Opened, root: string, path: string): Opened {
  const next = new Map(opened);
  const keys = path.slice(root.length + 1).split('.');
  for (let depth = 0; depth < keys.length; depth += 1)
    next.set([root, ...keys.slice(0, depth)].join('.'), true);
  return next;
}

function showPointed(tree: HTMLDivElement): void {
  const line = tree.querySelector('.pointed');
  if (!(line instanceof HTMLElement)) return;
  const isSeen = line.offsetTop >= tree.scrollTop && line.offsetTop < tree.scrollTop + tree.clientHeight - 24;
  if (!isSeen) tree.scrollTop = line.offsetTop - tree.clientHeight / 2;
}

interface TreeLineProps {
  readonly line: Line;
  readonly label: string;
  readonly isCurrent: boolean;
  readonly action: string;
  readonly onToggle: () => void;
  readonly onChoose: () => void;
}

function TreeLine({ line, label, isCurrent, action, onToggle, onChoose }: TreeLineProps): JSX.Element {
  const { path, key, level, value, isOpen, more } = line;
  const holdsMore = sizeOf(value) > 0;
  const isPointed = pointedPath.value === path && more === undefined;
  if (more !== undefined) return <MoreLine level={level} more={more} onToggle={onToggle} />;
  return (
    <div
      id={`${label}:${path}`}
      class={`line${isPointed ? ' pointed' : ''}${isCurrent ? ' current' : ''}`}
      style={indentOf(level)}
      role="treeitem"
      aria-level={level}
      aria-expanded={holdsMore ? isOpen : undefined}
      aria-selected={isPointed}
      title={holdsMore ? undefined : `${action}: ${plainText(path)}`}
      onClick={holdsMore ? onToggle : onChoose}
    >
      <span class="twist" aria-hidden="true">
        {holdsMore ? (isOpen ? '▾' : '▸') : ''}
      </span>
      <span class="key">
        <ShownText text={key.length > MAX_TEXT ? `${key.slice(0, MAX_TEXT)}…` : key} />
      </span>
      <ValueText value={value} isOpen={isOpen} />
    </div>
  );
}

/** Deeper levels stand below each other: a narrow page has no room for more. */
const MAX_INDENTED = 12;

function indentOf(level: number): { readonly paddingLeft: string } {
  return { paddingLeft: `${(Math.min(level, MAX_INDENTED) - 1) * 15 + 2}px` };
}

function MoreLine({ level, more, onToggle }: Pick<TreeLineProps, 'onToggle'> & MoreLines): JSX.Element {
  return (
    <div class="line" style={indentOf(level)} role="treeitem" aria-level={level} onClick={onToggle}>
      <span class="more">{more.toLocaleString('en')} more…</span>
    </div>
  );
}

interface MoreLines {
  readonly level: number;
  readonly more: number;
}

function ValueText({ value, isOpen }: { readonly value: Value; readonly isOpen: boolean }): JSX.Element {
  const kind = kindOf(value);
  if (kind === 'object' || kind === 'list') {
    const size = sizeOf(value);
    const text = kind === 'list' ? count(size, 'element') : count(size, 'key');
    return <span class="size">{isOpen ? '' : size === 0 ? (kind === 'list' ? '[ ]' : '{ }') : text}</span>;
  }
  if (typeof value !== 'string')
    return (
      <span class={`value ${kind}`}>{value instanceof ExactText ? value.text : JSON.stringify(value)}</span>
    );
  return <LongText value={value} />;
}

/** The beginning of a text, and the rest when it is asked for. */
function LongText({ value }: { readonly value: string }): JSX.Element {
  const isWhole = useSignal(false);
  const shown = isWhole.value ? MAX_OPEN_TEXT : MAX_TEXT;
  const showWhole = (event: Event): void => {
    event.stopPropagation();
    isWhole.value = true;
  };
  return (
    <span class="value text">
      <ShownText text={value.slice(0, shown)} />
      {value.length > shown && (
        <button type="button" class="link" tabIndex={-1} disabled={isWhole.value} onClick={showWhole}>
          … {formatBytes(value.length - shown)} more
        </button>
      )}
    </span>
  );
}

interface Walking {
  readonly lines: ReadonlySignal<readonly Line[]>;
  readonly current: Signal<string>;
  readonly toggle: (path: string, isOpen: boolean) => void;
  readonly act: (line: Line) => void;
}

/** The keys of the WAI-ARIA tree pattern. */
function walk(event: KeyboardEvent, { lines, current, toggle, act }: Walking): void {
  const list = lines.value;
  const found = list.findIndex(({ path, more }) => path === current.value && more === undefined);
  const at = Math.max(0, found);
  const line = list[at];
  if (line === undefined || event.target instanceof HTMLInputElement) return;
  const move = MOVES[event.key]?.(line, list, at);
  if (move === undefined) return;
  event.preventDefault();
  if (move === 'act') return act(line);
  if (typeof move !== 'number') return toggle(line.path, move === 'open');
  const next = list[Math.min(Math.max(move, 0), list.length - 1)];
  if (next === undefined) return;
  current.value = next.path;
  const { ariaLabel } = event.currentTarget as HTMLElement;
  document.getElementById(`${ariaLabel}:${next.path}`)?.scrollIntoView({ block: 'nearest' });
}

/** What a key does: something with the line, or a move to another one. */
const MOVES: Readonly<
  Record<string, (line: Line, list: readonly Line[], at: number) => number | 'open' | 'close' | 'act'>
> = {
  ArrowDown: (_line, _list, at) => at + 1,
  ArrowUp: (_line, _list, at) => at - 1,
  Home: () => 0,
  End: (_line, list) => list.length - 1,
  ArrowRight: ({ value, isOpen }, _list, at) => (sizeOf(value) > 0 && !isOpen ? 'open' : at + 1),
  ArrowLeft: (line, list, at) =>
    line.isOpen ? 'close' : list.findLastIndex(({ level }, index) => index < at && level < line.level),
  Enter: () => 'act',
  ' ': () => 'act',
};
