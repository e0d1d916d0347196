/*
 * A payload as a tree. What is closed costs nothing: a list of 100,000 keys shows a hundred and asks; a text of five
 * megabytes shows its beginning. Arrow keys walk it as every tree; Enter chooses a value.
 */
import { signal, useComputed, useSignal, type ReadonlySignal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { entriesOf, ExactText, kindOf, sizeOf, type Value } from './exact-json.ts';
import { count, formatBytes } from './format.ts';
import { plainText, ShownText } from './shown-text.tsx';

/** The path that is pointed at: a piece of a text, or a value of the tree. */
export const pointedPath = signal('');

/** Members shown at once. */
const CHUNK = 100;
const MAX_TEXT = 160;
const MAX_OPEN_TEXT = 20_000;
/** Values looked at by a search, and hits it shows. */
const MAX_LOOKED_AT = 300_000;
const MAX_HITS = 200;
/** Levels that are open at first. */
const OPEN_LEVELS = 2;

interface Line {
  readonly path: string;
  readonly key: string;
  readonly level: number;
  readonly value: Value;
  readonly isOpen: boolean;
  /** Members that are not shown yet. */
  readonly more?: number;
}

export interface PayloadTreeProps {
  /** Name of the root: payload, headers, query. */
  readonly root: string;
  readonly value: Value;
  readonly label: string;
  /** What choosing a value does, for its title. */
  readonly action: string;
  readonly onChoose: (path: string) => void;
}

/** What of the tree is open: chosen by the reader, or as it begins. */
type Opened = ReadonlyMap<string, boolean>;

export function PayloadTree({ root, value, label, action, onChoose }: PayloadTreeProps): JSX.Element {
  const opened = useSignal<Opened>(new Map());
  const shownOf = useSignal<ReadonlyMap<string, number>>(new Map());
  const search = useSignal('');
  const current = useSignal(root);
  const content = useSignal(value);
  content.value = value;
  const hits = useComputed(() => findHits(content.value, root, search.value.trim().toLowerCase()));
  const lines = useComputed(() =>
    listLines(content.value, root, { opened: opened.value, shownOf: shownOf.value, hits: hits.value }),
  );
  const box = useRef<HTMLDivElement>(null);
  useReveal(root, content, opened, box);
  const toggle = (path: string, isOpen: boolean): void => {
    opened.value = new Map(opened.value).set(path, isOpen);
  };
  const showMore = (path: string): void => {
    shownOf.value = new Map(shownOf.value).set(path, (shownOf.value.get(path) ?? CHUNK) + 10 * CHUNK);
  };
  const act = (line: Line): void => {
    if (line.more !== undefined) showMore(line.path);
    else if (sizeOf(line.value) > 0) toggle(line.path, !line.isOpen);
    else onChoose(line.path);
  };
  return (
    <div class="tree-box">
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
    </div>
  );
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
    const next = new Map(opened.peek());
    const keys = path.slice(root.length + 1).split('.');
    for (let depth = 0; depth < keys.length; depth += 1)
      next.set([root, ...keys.slice(0, depth)].join('.'), true);
    opened.value = next;
    requestAnimationFrame(() => {
      const tree = box.current;
      const line = tree?.querySelector('.pointed');
      if (tree === null || !(line instanceof HTMLElement)) return;
      const isSeen =
        line.offsetTop >= tree.scrollTop && line.offsetTop < tree.scrollTop + tree.clientHeight - 24;
      if (!isSeen) tree.scrollTop = line.offsetTop - tree.clientHeight / 2;
    });
  }, [path, content.value]);
}

interface Hits {
  readonly paths: ReadonlySet<string>;
  readonly text: string;
}

/** Paths of what was found and of everything above it; undefined where nothing is searched for. */
function findHits(value: Value, root: string, wanted: string): Hits | undefined {
  if (wanted === '') return undefined;
  const paths = new Set<string>([root]);
  let looked = 0;
  let found = 0;
  const open: { readonly path: string; readonly value: Value }[] = [{ path: root, value }];
  for (let item = open.pop(); item !== undefined && looked < MAX_LOOKED_AT; item = open.pop()) {
    for (const [key, member] of entriesOf(item.value)) {
      looked += 1;
      const path = `${item.path}.${key}`;
      if (key.toLowerCase().includes(wanted) || leafText(member).toLowerCase().includes(wanted)) {
        found += 1;
        if (found <= MAX_HITS) addWay(paths, path);
      }
      if (sizeOf(member) > 0) open.push({ path, value: member });
    }
  }
  const cut = found > MAX_HITS ? `, the first ${MAX_HITS} are shown` : '';
  return { paths, text: `${count(found, 'hit')}${looked >= MAX_LOOKED_AT ? ' so far' : ''}${cut}` };
}

function addWay(paths: Set<string>, path: string): void {
  for (let at = path.indexOf('.'); at !== -1; at = path.indexOf('.', at + 1)) paths.add(path.slice(0, at));
  paths.add(path);
}

function leafText(value: Value): string {
  if (typeof value === 'string') return value.slice(0, 100_000);
  if (value instanceof ExactText) return value.text;
  return typeof value === 'object' ? '' : String(value);
}

interface Showing {
  readonly opened: Opened;
  readonly shownOf: ReadonlyMap<string, number>;
  readonly hits: Hits | undefined;
}

/** The lines in sight, from the top. */
function listLines(value: Value, root: string, { opened, shownOf, hits }: Showing): readonly Line[] {
  const lines: Line[] = [];
  const visit = (path: string, key: string, item: Value, level: number): void => {
    const size = sizeOf(item);
    const isOpen =
      size > 0 &&
      (hits === undefined
        ? (opened.get(path) ?? (level <= OPEN_LEVELS && size <= CHUNK)) || level === 1
        : hits.paths.has(path));
    lines.push({ path, key, level, value: item, isOpen });
    if (!isOpen) return;
    const shown = hits === undefined ? (shownOf.get(path) ?? CHUNK) : Infinity;
    let number = 0;
    for (const [name, member] of entriesOf(item)) {
      const memberPath = `${path}.${name}`;
      if (hits !== undefined && !hits.paths.has(memberPath)) continue;
      number += 1;
      if (number > shown) break;
      visit(memberPath, name, member, level + 1);
    }
    if (size > shown)
      lines.push({ path, key: '', level: level + 1, value: null, isOpen: false, more: size - shown });
  };
  visit(root, root, value, 1);
  return lines;
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
      class={`line l${Math.min(level, 12)}${isPointed ? ' pointed' : ''}${isCurrent ? ' current' : ''}`}
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

function MoreLine({ level, more, onToggle }: Pick<TreeLineProps, 'onToggle'> & MoreLines): JSX.Element {
  return (
    <div class={`line l${Math.min(level, 12)}`} role="treeitem" aria-level={level} onClick={onToggle}>
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
  const at = Math.max(
    0,
    list.findIndex(({ path, more }) => path === current.value && more === undefined),
  );
  const line = list[at];
  if (line === undefined || event.target instanceof HTMLInputElement) return;
  const to = (index: number): void => {
    const next = list[Math.min(Math.max(index, 0), list.length - 1)];
    if (next === undefined) return;
    current.value = next.path;
    document
      .getElementById(`${(event.currentTarget as HTMLElement).ariaLabel}:${next.path}`)
      ?.scrollIntoView({ block: 'nearest' });
  };
  const moves: Readonly<Record<string, () => void>> = {
    ArrowDown: () => to(at + 1),
    ArrowUp: () => to(at - 1),
    Home: () => to(0),
    End: () => to(list.length - 1),
    ArrowRight: () => (sizeOf(line.value) > 0 && !line.isOpen ? toggle(line.path, true) : to(at + 1)),
    ArrowLeft: () =>
      line.isOpen
        ? toggle(line.path, false)
        : to(list.findLastIndex(({ level }, index) => index < at && level < line.level)),
    Enter: () => act(line),
    ' ': () => act(line),
  };
  const move = moves[event.key];
  if (move === undefined) return;
  event.preventDefault();
  move();
}
