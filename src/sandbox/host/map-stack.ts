/** Turns stacks of linked scripts into positions in the operator's own files. */
import { SourceMap, type SourceMapPayload } from 'node:module';
import path from 'node:path';
import { displayName } from '../../document/document.ts';
import { MODULE_FILE } from '../names.ts';
import type { LoadedModule, TransformsFolder } from '../loader/load-modules.ts';
import type { MappedPosition } from '../transform.ts';
import { findRead, type ReadExpression } from './read-expression.ts';

export interface MappedStack {
  readonly text: string;
  /** Of the first frame that is the operator's. */
  readonly position: MappedPosition | undefined;
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
    let position: MappedPosition | undefined;
    let preferred: MappedPosition | undefined;
    const lines: string[] = [];
    for (const line of stack.slice(0, MAX_STACK_CHARS).split('\n')) {
      if (!/^\s+at /.test(line)) {
        lines.push(line);
        continue;
      }
      const frame = FRAME.exec(line);
      const found = frame === null ? undefined : this.find(Number(frame[1]), Number(frame[2]));
      if (frame === null || found === undefined) continue;
      position ??= found;
      if (first.test(this.#lineOf(Number(frame[1])))) preferred ??= found;
      lines.push(line.replace(frame[0], () => `${found.file}:${found.line}:${found.column}`));
    }
    return { text: lines.join('\n').slice(0, MAX_STACK_CHARS), position: preferred ?? position };
  }

  /** What an error was about to read at the first frame that is the operator's, as the words of it say. */
  findRead(stack: string, message: string): ReadExpression | undefined {
    for (const line of stack.slice(0, MAX_STACK_CHARS).split('\n')) {
      const frame = /^\s+at /.test(line) ? FRAME.exec(line) : null;
      if (frame === null) continue;
      const at = { line: Number(frame[1]), column: Number(frame[2]) };
      if (this.find(at.line, at.column) !== undefined) return findRead(this.#code, message, at);
    }
    return undefined;
  }

  #lineOf(line: number): string {
    return this.#code.split('\n')[line - 1] ?? '';
  }
}

const FRAME = new RegExp(`${MODULE_FILE}:(\\d{1,7}):(\\d{1,7})`);
