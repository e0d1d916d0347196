/** Turns stacks of linked scripts into positions in the operator's own files. */
import { SourceMap, type SourceMapPayload } from 'node:module';
import path from 'node:path';
import { displayName } from '../../../base/document/document.ts';
import { MODULE_FILE } from '../names.ts';
import type { LoadedModule, TransformsFolder } from '../loader/load-modules.ts';
import type { MappedPosition } from '../transform.ts';
import { findRead, type ReadExpression } from './read-expression.ts';

export interface MappedStack {
  readonly text: string;
  /** Of the first frame that is the operator's, or the one that was asked for. */
  readonly position: MappedPosition | undefined;
  /** Of the first frame that is the operator's, in the linked code. */
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
    this.#map ??= new SourceMap(JSON.parse(this.#mapText) as SourceMapPayload);
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
