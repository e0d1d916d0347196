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
  /** Position of the operator's first frame. */
  readonly position: MappedPosition | undefined;
}

const MAX_STACK_CHARS = 8192;

export class StackMapper {
  readonly #folder: TransformsFolder;
  readonly #mapText: string;
  #map: SourceMap | undefined;

  /** `module.map` is a source map whose sources are relative to the folder. */
  constructor(folder: TransformsFolder, module: Pick<LoadedModule, 'map'>) {
    this.#folder = folder;
    this.#mapText = module.map;
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

  /** Maps the frames of a stack, leaves those out that are not the operator's, keeps the words before them. */
  map(stack: string): MappedStack {
    let first: MappedPosition | undefined;
    const lines: string[] = [];
    for (const line of stack.slice(0, MAX_STACK_CHARS).split('\n')) {
      const isFrame = /^\s+at /.test(line);
      const position = isFrame ? this.#ownPosition(line) : undefined;
      if (isFrame && position === undefined) continue;
      lines.push(position === undefined ? line : line.replace(FRAME, () => placeText(position)));
      first ??= position;
    }
    return { text: lines.join('\n').slice(0, MAX_STACK_CHARS), position: first };
  }

  #ownPosition(line: string): MappedPosition | undefined {
    const [, row, column] = FRAME.exec(line) ?? [];
    return row === undefined ? undefined : this.find(Number(row), Number(column));
  }
}

const placeText = ({ file, line, column }: MappedPosition): string => `${file}:${line}:${column}`;

const FRAME = new RegExp(`${MODULE_FILE}:(\\d{1,7}):(\\d{1,7})`);
