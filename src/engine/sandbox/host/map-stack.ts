/** Turns stacks of linked scripts into positions in the operator's own files. */
import type { SourceMap } from 'node:module';
import path from 'node:path';
import { displayName } from '../../../base/document/document.ts';
import { readMap } from '../loader/source-map.ts';
import { MODULE_FILE } from '../names.ts';
import type { LoadedModule, TransformsFolder } from '../loader/load-modules.ts';
import type { MappedPosition } from '../transform.ts';

export interface MappedStack {
  readonly text: string;
  /** Position of the operator's first frame, or of the frame that was asked for. */
  readonly position: MappedPosition | undefined;
  /** Position of the operator's first frame in the linked code. */
  readonly linked: LinkedPosition | undefined;
}

/** 1-based. */
interface LinkedPosition {
  readonly line: number;
  readonly column: number;
}

interface OwnFrame {
  readonly position: MappedPosition;
  readonly linked: LinkedPosition;
}

const MAX_STACK_CHARS = 8192;

export class StackMapper {
  readonly #folder: TransformsFolder;
  readonly #mapText: string;
  readonly #code: string;
  #map: SourceMap | undefined;

  /** `module.map` is a source map whose sources are relative to the folder. */
  constructor(folder: TransformsFolder, module: Pick<LoadedModule, 'code' | 'map'>) {
    this.#folder = folder;
    this.#mapText = module.map;
    this.#code = module.code;
  }

  /** Where a 1-based position of the linked script comes from; undefined where it is of the linker's own making. */
  find(line: number, column: number): MappedPosition | undefined {
    // Parsed on first use: most modules never fail.
    this.#map ??= readMap(this.#mapText);
    const entry = this.#map.findEntry(line - 1, column - 1);
    if (!('originalSource' in entry)) return undefined;
    const file = displayName(path.join(this.#folder.dir, entry.originalSource), this.#folder.cwd);
    return { file, line: entry.originalLine + 1, column: entry.originalColumn + 1 };
  }

  /**
   * Maps the frames of a stack, leaves those out that are not the operator's, keeps the words before them. The position
   * is that of the first frame, or of the first one in a line that `first` matches.
   */
  map(stack: string, { first = /(?:)/ }: { readonly first?: RegExp } = {}): MappedStack {
    const frames: OwnFrame[] = [];
    const lines: string[] = [];
    for (const line of stack.slice(0, MAX_STACK_CHARS).split('\n')) {
      const isFrame = /^\s+at /.test(line);
      const frame = isFrame ? this.#ownFrame(line) : undefined;
      if (isFrame && frame === undefined) continue;
      lines.push(frame === undefined ? line : line.replace(FRAME, () => placeText(frame.position)));
      if (frame !== undefined) frames.push(frame);
    }
    const [top] = frames;
    const preferred = frames.find(({ linked }) => first.test(this.#lineOf(linked.line))) ?? top;
    return {
      text: lines.join('\n').slice(0, MAX_STACK_CHARS),
      position: preferred?.position,
      linked: top?.linked,
    };
  }

  /** What an error was about to read at the first frame that is the operator's, as the words of it say. */
  findRead({ linked }: MappedStack, message: string): ReadExpression | undefined {
    return linked && findRead(this.#code, message, linked);
  }

  #ownFrame(line: string): OwnFrame | undefined {
    const [, row, column] = FRAME.exec(line) ?? [];
    const linked = { line: Number(row), column: Number(column) };
    const position = row === undefined ? undefined : this.find(linked.line, linked.column);
    return position && { position, linked };
  }

  #lineOf(line: number): string {
    return this.#code.split('\n')[line - 1] ?? '';
  }
}

const placeText = ({ file, line, column }: MappedPosition): string => `${file}:${line}:${column}`;

const FRAME = new RegExp(`${MODULE_FILE}:(\\d{1,7}):(\\d{1,7})`);

/*
 * Of which value an error of V8 says that nothing can be read of it: the expression before the place where it was
 * thrown, and the field of the transform's argument that it is. The linked code is what the linker prints, one
 * statement a line, so a few forms of declarations are found by their text; who tells it looks at the argument, too.
 */

/** What was read in vain. */
export interface ReadExpression {
  /** As the code writes it, e.g. `assignee`. */
  readonly expression: string;
  /** From the argument of the transform, e.g. `payload.data.assignee`; absent where the code does not say so plainly. */
  readonly path?: string;
}

const MAX_CHARS = 300;
/** Declarations that are followed back from a name. */
const MAX_STEPS = 5;

/** The expression before a 1-based position of linked code, or the one that the words of the error name. */
export function findRead(
  code: string,
  message: string,
  { line, column }: { readonly line: number; readonly column: number },
): ReadExpression | undefined {
  const named = /^Cannot destructure property '[^']{1,100}' of '([\w$.]{1,200})'/.exec(message)?.[1];
  const isRead = named !== undefined || message.startsWith('Cannot read properties of ');
  if (!isRead) return undefined;
  const lines = code.split('\n');
  const before = (lines[line - 1] ?? '').slice(Math.max(0, column - 1 - MAX_CHARS), column - 1);
  const expression = named ?? chainAtEnd(before);
  if (expression === undefined) return undefined;
  const path = resolve(expression, lines.slice(0, line).join('\n'));
  return { expression, ...(path === undefined ? {} : { path }) };
}

/** `a.b` of `x = a.b.`; undefined where a call or an index stands before it. */
function chainAtEnd(before: string): string | undefined {
  const found = /([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)\.$/.exec(before);
  const [, chain] = found ?? [];
  if (found === null || chain === undefined) return undefined;
  return /[\w$.?)\]]/.test(before.charAt(found.index - 1)) ? undefined : chain;
}

/** Fields of the argument of a transform. */
const INPUT: ReadonlySet<string> = new Set(['payload', 'headers', 'query', 'item']);

function resolve(chain: string, code: string): string | undefined {
  let keys = chain.split('.');
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const [root = '', ...rest] = keys;
    const origin = originOf(root, code);
    if (origin === undefined) break;
    keys = [...origin, ...rest];
  }
  const [root = '', second = '', ...more] = keys;
  if (INPUT.has(root)) return keys.join('.');
  // The whole argument has a name of its own.
  return INPUT.has(second) ? [second, ...more].join('.') : undefined;
}

/** `const {…} = a.b;` and `const x = a.b;`, as the linker prints them. */
const DECLARATION = /\b(?:const|let|var) (\{[^{}]{1,1000}\}|[\w$]{1,100}) = ([A-Za-z_$][\w$.?]{0,200});/g;

/** What the last declaration of a name in the code takes it from, as keys. */
function originOf(name: string, code: string): readonly string[] | undefined {
  let origin: readonly string[] | undefined;
  for (const [, bound = '', from = ''] of code.matchAll(DECLARATION)) {
    const key = keyOf(name, bound);
    if (key !== undefined) origin = [...from.replaceAll('?', '').split('.'), ...key];
  }
  return origin ?? (code.includes(`payload: ${name} `) ? ['payload'] : undefined);
}

/** The key under which a declaration takes a name; none where it takes the whole value. */
function keyOf(name: string, bound: string): readonly string[] | undefined {
  if (!bound.startsWith('{')) return bound === name ? [] : undefined;
  const parts = bound.slice(1, -1).split(',');
  for (const part of parts) {
    const [key = '', alias = key] = part.split(':').map((each) => each.trim());
    if (alias === name) return [key];
  }
  return undefined;
}
