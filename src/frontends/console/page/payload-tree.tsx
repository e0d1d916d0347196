/**
 * Shows a payload as a tree. Closed parts cost nothing: a list of 100,000 keys shows a hundred and asks; a
 * text of five megabytes shows its beginning. Arrow keys walk it as every tree; Enter chooses a value.
 */
import { signal, useSignal } from '@preact/signals';
import { createContext, type JSX } from 'preact';
import { useContext, useEffect, useMemo, useRef } from 'preact/hooks';
import type { ShownContent } from '../protocol.ts';
import { entriesOf, NumberText, parseExact, sizeOf, type ExactValue } from './exact-json.ts';
import { count, formatBytes } from './format.ts';
import { plainText, ShownText } from './shown-text.tsx';
import { copy } from './toast.ts';

/** The path under the pointer: a piece of a text, or a value of the tree. */
export const pointedPath = signal('');

const CHUNK = 100;
const OPEN_LEVELS = 2;
const MAX_TEXT = 160;
const MAX_OPEN_TEXT = 20_000;

interface Choosing {
  /** What a click on a value does, in words. */
  readonly action: string;
  readonly onChoose: (path: string) => void;
}

const Tree = createContext<Choosing>({ action: '', onChoose: () => undefined });

/** Shows the parts of a stored request, each to copy. */
export function RequestTrees({
  content,
  ...choosing
}: Choosing & { readonly content: ShownContent }): JSX.Element {
  const payload = useMemo(() => parseExact(content.payload), [content.payload]);
  const parts = { payload, headers: content.headers, query: content.query };
  return (
    <>
      {Object.entries(parts).map(([name, value]) =>
        name !== 'payload' && sizeOf(value) === 0 ? null : (
          // A piece of a text leads to its value, so the part with the value is opened.
          <details key={name} open={name === 'payload' || pointedPath.value.startsWith(`${name}.`)}>
            <summary>
              <h2>{name}</h2>
            </summary>
            <button type="button" class="link" onClick={() => copyJson(content, name)}>
              Copy as JSON
            </button>
            <div class="tree" role="tree" aria-label={name} onKeyDown={walk}>
              <Tree.Provider value={choosing}>
                <Branch path={name} name={name} value={value} level={1} />
              </Tree.Provider>
            </div>
          </details>
        ),
      )}
    </>
  );
}

function copyJson(content: ShownContent, name: string): void {
  const { payload, ...others } = content;
  const value = (others as Readonly<Record<string, unknown>>)[name];
  copy(name === 'payload' ? payload : JSON.stringify(value, undefined, 2), `the ${name}`);
}

interface BranchProps {
  readonly path: string;
  readonly name: string;
  readonly value: ExactValue;
  readonly level: number;
}

function Branch({ path, name, value, level }: BranchProps): JSX.Element {
  const { action, onChoose } = useContext(Tree);
  const chosen = useSignal<boolean | undefined>(undefined);
  const shown = useSignal(CHUNK);
  const line = useRef<HTMLDivElement>(null);
  const pointed = pointedPath.value;
  const isPointed = pointed === path;
  useEffect(() => {
    if (pointed.startsWith(`${path}.`)) chosen.value = true;
    if (isPointed) line.current?.scrollIntoView({ block: 'nearest' });
  }, [pointed]);
  const size = sizeOf(value);
  const isOpenAtFirst = level === 1 || (level <= OPEN_LEVELS && size <= CHUNK);
  const isOpen = size > 0 && (chosen.value ?? isOpenAtFirst);
  const members = isOpen ? entriesOf(value).slice(0, shown.value) : [];
  return (
    <>
      <div
        ref={line}
        class={isPointed ? 'line pointed' : 'line'}
        style={indentOf(level)}
        role="treeitem"
        tabIndex={level === 1 ? 0 : -1}
        aria-level={level}
        aria-expanded={size > 0 ? isOpen : undefined}
        aria-selected={isPointed}
        title={size > 0 ? undefined : `${action}: ${plainText(path)}`}
        onClick={() => (size > 0 ? (chosen.value = !isOpen) : onChoose(path))}
      >
        <span class="twist" aria-hidden="true">
          {size === 0 ? '' : isOpen ? '▾' : '▸'}
        </span>
        <span class="key">
          <ShownText text={name.length > MAX_TEXT ? `${name.slice(0, MAX_TEXT)}…` : name} />
        </span>
        <ValueText value={value} isOpen={isOpen} />
      </div>
      {members.map(([key, member]) => (
        <Branch key={key} path={`${path}.${key}`} name={key} value={member} level={level + 1} />
      ))}
      {isOpen && size > shown.value && (
        <div
          class="line more"
          style={indentOf(level + 1)}
          role="treeitem"
          tabIndex={-1}
          aria-level={level + 1}
          onClick={() => (shown.value += 10 * CHUNK)}
        >
          {(size - shown.value).toLocaleString('en')} more…
        </div>
      )}
    </>
  );
}

/** Deeper levels stand below each other, because a narrow page has no space for more. */
const MAX_INDENTED = 12;

function indentOf(level: number): { readonly paddingLeft: string } {
  return { paddingLeft: `${(Math.min(level, MAX_INDENTED) - 1) * 15 + 2}px` };
}

function ValueText({ value, isOpen }: { readonly value: ExactValue; readonly isOpen: boolean }): JSX.Element {
  if (typeof value === 'string') return <LongText value={value} />;
  if (value instanceof NumberText || typeof value !== 'object' || value === null)
    return <span class="value number">{value instanceof NumberText ? value.text : String(value)}</span>;
  const [size, isList] = [sizeOf(value), Array.isArray(value)];
  const closed = size === 0 ? (isList ? '[ ]' : '{ }') : count(size, isList ? 'element' : 'key');
  return <span class="size">{isOpen ? '' : closed}</span>;
}

/** The rest of a long text is shown when it is asked for. */
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

/** The keys are those of the WAI-ARIA tree pattern; the focus is on the line itself. */
function walk(event: KeyboardEvent): void {
  const line = event.target as HTMLElement;
  const lines = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('.line')];
  const at = lines.indexOf(line);
  const goTo = MOVES[event.key]?.(line, lines, at);
  if (at === -1 || goTo === undefined) return;
  event.preventDefault();
  if (goTo === 'press') line.click();
  else lines[Math.min(Math.max(goTo, 0), lines.length - 1)]?.focus();
}

const levelOf = (line: HTMLElement): number => Number(line.ariaLevel);

/** A key presses the line, as a click does, or goes to another one. */
const MOVES: Readonly<
  Record<string, (line: HTMLElement, lines: readonly HTMLElement[], at: number) => number | 'press'>
> = {
  ArrowDown: (_line, _lines, at) => at + 1,
  ArrowUp: (_line, _lines, at) => at - 1,
  Home: () => 0,
  End: (_line, lines) => lines.length - 1,
  ArrowRight: (line, _lines, at) => (line.ariaExpanded === 'false' ? 'press' : at + 1),
  ArrowLeft: (line, lines, at) =>
    line.ariaExpanded === 'true'
      ? 'press'
      : lines.findLastIndex((other, index) => index < at && levelOf(other) < levelOf(line)),
  Enter: () => 'press',
  ' ': () => 'press',
};
