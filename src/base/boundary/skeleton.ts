import { decodeEntity } from './entities.ts';
import { foldCodePoint } from './fold.ts';

/**
 * A *skeleton* is a text as it looks: every code point folded (`fold.ts`), HTML entities decoded (nested ones too),
 * control sequences of terminals left out,
 * each run of white space as one space. It is ASCII. Every skeleton character knows the range of the text it came
 * from, so that what is found in a skeleton can be replaced in the text and everything else survives byte for byte.
 */
export interface Skeleton {
  readonly folded: string;
  /** Where in the text a skeleton character comes from. */
  startOf(index: number): number;
  endOf(index: number): number;
}

/** A part of a text that is replaced, and by what remark. */
export interface Spoof {
  readonly start: number;
  readonly end: number;
  readonly remark: string;
}

const AMPERSAND = 0x26;
const SPACE = 0x20;
const ESCAPE = 0x1b;
/** What follows ESC in a control sequence of a terminal, such as a colour (ECMA-48, 5.4). */
const CONTROL = /\[[0-?]{0,32}[ -/]{0,4}[@-~]/y;
/** Unicode's tag characters double printable ASCII, `<` as U+E003C, and are invisible. */
const FIRST_TAG = 0xe0020;
const LAST_TAG = 0xe007e;
const TAG_OFFSET = 0xe0000;
/** Space kept free for one more piece. */
const PIECE_SPACE = 16;

/**
 * Builds the skeleton of a text in one pass; O(n). With `readTags`, tag characters stand for the ASCII they double
 * instead of being dropped as invisible.
 */
export function foldText(text: string, { readTags = false } = {}): Skeleton {
  let codes = new Uint8Array(text.length + PIECE_SPACE);
  let starts = new Uint32Array(codes.length);
  let length = 0;
  for (let index = 0, end = 0; index < text.length; index = end) {
    const code = text.charCodeAt(index);
    end = index + 1;
    let piece: string;
    if (code < 128 && code !== AMPERSAND) piece = foldCodePoint(code);
    else {
      const unit = readUnit(text, index, readTags);
      ({ piece, end } = unit);
    }
    if (piece === '') {
      if (code === ESCAPE) end = afterControl(text, end);
      continue;
    }
    if (piece === ' ' && codes[length - 1] === SPACE) continue;
    if (length + PIECE_SPACE > codes.length) [codes, starts] = [grown(codes), grown(starts)];
    for (let at = 0; at < piece.length; at += 1) {
      codes[length] = piece.charCodeAt(at);
      starts[length] = index;
      length += 1;
    }
  }
  const folded = Buffer.from(codes.buffer, 0, length).toString('latin1');
  return {
    folded,
    startOf: (at) => (at < length ? (starts[at] ?? 0) : text.length),
    endOf: (at) => (at < length ? readUnit(text, starts[at] ?? 0, readTags).end : text.length),
  };
}

function afterControl(text: string, index: number): number {
  CONTROL.lastIndex = index;
  return CONTROL.test(text) ? CONTROL.lastIndex : index;
}

/** One code point, or one entity, and what it is folded to. */
function readUnit(
  text: string,
  index: number,
  readTags: boolean,
): { readonly piece: string; readonly end: number } {
  const codePoint = text.codePointAt(index) ?? 0;
  const end = index + (codePoint > 0xffff ? 2 : 1);
  const isTag = readTags && codePoint >= FIRST_TAG && codePoint <= LAST_TAG;
  const piece = foldCodePoint(isTag ? codePoint - TAG_OFFSET : codePoint);
  return (piece === '&' ? decodeEntity(text, end) : undefined) ?? { piece, end };
}

function grown<T extends Uint8Array | Uint32Array>(array: T): T {
  const larger = new (array.constructor as new (length: number) => T)(array.length * 2);
  larger.set(array);
  return larger;
}
