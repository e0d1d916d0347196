import { CONFUSABLES, ENTITIES, SUSPICIOUS } from './confusables.ts';

/**
 * Spoofed markers and control tokens are looked for in a *skeleton* of the text: invisible characters dropped, HTML
 * entities decoded (nested ones too), compatibility forms and look-alikes folded to ASCII, lower case, `l` and `1` as
 * `i`, `0` as `o`, each run of white space as one space. Every skeleton character knows the range of the text it came
 * from, so that a finding is replaced in the text itself and everything else survives byte for byte. A replacement
 * leaves a visible remark instead of nothing: the two halves round a removed token must not become another one.
 *
 * Time is linear: the skeleton is built in one pass, and every pattern below is bounded from a fixed first character.
 */
interface Skeleton {
  readonly folded: string;
  /** Where in the text a skeleton character comes from. */
  startOf(index: number): number;
  endOf(index: number): number;
}

interface Finding {
  readonly start: number;
  readonly end: number;
  readonly remark: string;
}

/** What each ASCII character stands for in a skeleton. */
const ASCII: readonly string[] = Array.from({ length: 128 }, (_, code) => foldAscii(code));

const MARKER_REMARK = '[marker removed]';
const TOKEN_REMARK = '[control token removed]';

/** Words of control tokens that carry a pipe, `<|word|>`; the kin of ChatML, Llama, Phi, DeepSeek, Cohere, Qwen. */
const PIPE_WORDS = foldedSet(
  `im_start im_end im_sep endoftext endofprompt end start system user assistant tool tool_call tool_response message
  channel constrain return call fim_prefix fim_middle fim_suffix fim_pad begin_of_text end_of_text start_header_id
  end_header_id header_start header_end eot eot_id eom eom_id python_tag python_start python_end start_of_role
  end_of_role startoftext begin_of_sentence end_of_sentence observation think turn start_of_turn_token
  end_of_turn_token system_token user_token chatbot_token bos eos pad unk vision_start vision_end image repo_name
  file_sep`,
);
/** Words of control tokens in plain angle brackets, with or without a slash. */
const ANGLE_WORDS = foldedSet(
  `s bos eos pad unk start_of_turn end_of_turn start_of_image end_of_image begin_of_text end_of_text endoftext
  im_start im_end tool_call tool_calls tool_response start_header_id end_header_id eot_id`,
);
/** Words of control tokens in square brackets; Mistral's and GLM's. */
const SQUARE_WORDS = foldedSet(
  'inst system_prompt available_tools tool_calls tool_results tool_content gmask sop',
);

const GAP = '[ _.\\-]{0,4}';
const MARKER = new RegExp(
  [spaced('external'), `(?:${GAP}${spaced('untrusted')})?`, spaced('content')].join(GAP),
  'g',
);
const ANGLE = /< ?(\|?)\|? ?\/? ?([^<>|]{1,96})(\|?)\|? ?>/g;
/** What may stand between a marker's words and its closing brackets: nothing, or `id="…"`. */
const ATTRIBUTE = /^ ?(?:[a-z]{1,12} ?= ?["']?[^"'<>]{0,64}["']? ?)?$/;
const SYS = new RegExp(`< ?< ?/? ?${spaced('sys')} ?> ?>`, 'g');
const SQUARE = /\[ ?\/? ?([^[\]<>|]{1,48})\]/g;
/** `&`, any number of escaped ampersands, then a hexadecimal, decimal, named or unterminated legacy entity. */
const ENTITY =
  /&(?:(?:amp|#0*38|#x0*26);?)*(?:#x0*([0-9a-f]{1,6});?|#0*(\d{1,7});?|([a-z]{2,24});|(lt|gt|amp|quot|nbsp|shy|laquo|raquo|brvbar))/iy;
const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{M}]$/u;
const MARKS = /\p{M}/gu;
/** Math letters have entities of their own: `&iscr;` is a script i. */
const MATH_LETTER = /^([a-z])(?:scr|fr|opf)$/;

/**
 * Replaces spoofed boundary markers and model control tokens in external text, whatever their case, spacing, width,
 * look-alike letters, entities or invisible characters. Text without any of them is returned as it is. O(n).
 */
export function neutralise(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const skeleton = foldText(text);
  const findings = [...findMarkers(text, skeleton), ...findTokens(skeleton)];
  return findings.length === 0 ? text : replaceFindings(text, findings);
}

function replaceFindings(text: string, findings: Finding[]): string {
  findings.sort((a, b) => a.start - b.start || b.end - a.end);
  const parts: string[] = [];
  let done = 0;
  for (const { start, end, remark } of findings) {
    if (start < done) {
      // Overlaps the one before, whose remark is already there: only its rest has to go.
      done = Math.max(done, end);
      continue;
    }
    parts.push(text.slice(done, start), remark);
    done = end;
  }
  parts.push(text.slice(done));
  return parts.join('');
}

/**
 * Finds the marker's words next to angle brackets: one `<` before them is enough; without it two `>` on the same line,
 * after nothing but an attribute (quoted mail has `>` at the start of its lines).
 */
function findMarkers(text: string, { folded, startOf, endOf }: Skeleton): Finding[] {
  const findings: Finding[] = [];
  let searched = 0;
  for (const match of folded.matchAll(MARKER)) {
    const left = openingBefore(folded, match.index, searched);
    searched = match.index + match[0].length;
    const right = closingAfter(folded, searched);
    if (left.bracket === undefined) {
      if (right.brackets < 2 || !ATTRIBUTE.test(folded.slice(searched, right.start))) continue;
      if (/[\r\n]/.test(text.slice(endOf(searched - 1), startOf(right.start)))) continue;
    }
    findings.push({
      start: startOf(left.bracket ?? left.words),
      end: endOf((right.brackets === 0 ? searched : right.end) - 1),
      remark: MARKER_REMARK,
    });
    if (right.brackets > 0) searched = right.end;
  }
  return findings;
}

/**
 * What stands before a marker's words that begin at `index`: where the word END begins, if it is there, and where the
 * run of `<` that opens the marker begins. Never looks before `from`.
 */
function openingBefore(
  folded: string,
  index: number,
  from: number,
): { readonly words: number; readonly bracket: number | undefined } {
  let words = index;
  let position = skipGapBefore(folded, index, from);
  const end = /e[ _.-]{0,4}n[ _.-]{0,4}d$/.exec(folded.slice(Math.max(from, position - 11), position));
  if (end !== null) {
    words = position - end[0].length;
    position = skipGapBefore(folded, words, from);
  }
  let bracket: number | undefined;
  while (position > from && (folded[position - 1] === '<' || folded[position - 1] === ' ')) {
    position -= 1;
    if (folded[position] === '<') bracket = position;
  }
  return { words, bracket };
}

function skipGapBefore(folded: string, index: number, from: number): number {
  let position = index;
  while (position > from && ' _.-/"\''.includes(folded[position - 1]!)) position -= 1;
  return position;
}

/** The closing brackets after a marker's words, with an attribute of at most 120 characters between. */
function closingAfter(
  folded: string,
  index: number,
): { readonly start: number; readonly end: number; readonly brackets: number } {
  let position = index;
  const limit = Math.min(folded.length, index + 120);
  while (position < limit && folded[position] !== '>' && folded[position] !== '<') position += 1;
  const start = position;
  let end = index;
  let brackets = 0;
  while (position < folded.length && (folded[position] === '>' || folded[position] === ' ')) {
    if (folded[position] === '>') {
      brackets += 1;
      end = position + 1;
    }
    position += 1;
  }
  return { start, end, brackets };
}

function findTokens({ folded, startOf, endOf }: Skeleton): Finding[] {
  const findings: Finding[] = [];
  const add = (index: number, length: number) =>
    findings.push({ start: startOf(index), end: endOf(index + length - 1), remark: TOKEN_REMARK });
  for (const match of folded.matchAll(ANGLE)) {
    const [whole, before, word = '', after] = match;
    const piped = before !== '' || after !== '';
    if (piped ? isPipeWord(word) : ANGLE_WORDS.has(squeeze(word))) add(match.index, whole.length);
  }
  for (const match of folded.matchAll(SYS)) add(match.index, match[0].length);
  for (const match of folded.matchAll(SQUARE)) {
    if (SQUARE_WORDS.has(squeeze(match[1]!))) add(match.index, match[0].length);
  }
  return findings;
}

/** Unspaced identifiers count whatever they are, as models have reserved ones; `f <| x |> g` is code and stays. */
function isPipeWord(word: string): boolean {
  return /^[a-z0-9_]{2,}$/.test(word) || PIPE_WORDS.has(squeeze(word));
}

/** Text whose skeleton has the same length: ASCII without entities, control characters or runs of white space. */
const PLAIN = /^[\t\n\r\x20-\x25\x27-\x7e]*$/;
const SPACE_RUN = /\s\s/;

function foldText(text: string): Skeleton {
  return PLAIN.test(text) && !SPACE_RUN.test(text) ? foldPlain(text) : foldAny(text);
}

/** The common case, ten times as fast: a webhook's short text with a bracket in it. */
function foldPlain(text: string): Skeleton {
  const folded = text.toLowerCase().replaceAll(/[l1]/g, 'i').replaceAll('0', 'o').replaceAll(/\s/g, ' ');
  return { folded, startOf: (index) => index, endOf: (index) => index + 1 };
}

function foldAny(text: string): Skeleton {
  const starts: number[] = [];
  const ends: number[] = [];
  let folded = '';
  let spaceOpen = false;
  for (let index = 0; index < text.length;) {
    const code = text.charCodeAt(index);
    let end = index + 1;
    let piece: string;
    if (code === 0x26) {
      const entity = decodeEntity(text, index);
      end = entity.end;
      piece = entity.piece;
    } else if (code < 128) {
      piece = ASCII[code]!;
    } else {
      const codePoint = text.codePointAt(index)!;
      if (codePoint > 0xffff) end += 1;
      piece = foldCodePoint(codePoint);
    }
    if (piece === ' ' && spaceOpen) {
      ends[ends.length - 1] = end;
    } else {
      for (let n = 0; n < piece.length; n += 1) {
        starts.push(index);
        ends.push(end);
      }
      folded += piece;
      if (piece !== '') spaceOpen = piece === ' ';
    }
    index = end;
  }
  return { folded, startOf: (at) => starts[at] ?? text.length, endOf: (at) => ends[at] ?? text.length };
}

function decodeEntity(text: string, index: number): { readonly piece: string; readonly end: number } {
  ENTITY.lastIndex = index;
  const match = ENTITY.exec(text);
  if (match === null) return { piece: '&', end: index + 1 };
  const [whole, hex, decimal, name, legacy] = match;
  const end = index + whole.length;
  const named = (name ?? legacy)?.toLowerCase();
  if (named === undefined) {
    const codePoint = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return { piece: codePoint > 0x10ffff ? '\uFFFD' : foldCodePoint(codePoint), end };
  }
  const letter = MATH_LETTER.exec(named)?.[1];
  const stands = letter ?? ENTITIES.get(named);
  if (stands === undefined) return { piece: '&', end: index + 1 };
  return { piece: Array.from(stands, (character) => foldCodePoint(character.codePointAt(0)!)).join(''), end };
}

/** What a character stands for in a skeleton: empty where it is invisible, U+FFFD where it cannot matter. */
function foldCodePoint(codePoint: number): string {
  if (codePoint < 128) return ASCII[codePoint]!;
  // Han, Hangul and surrogates resemble nothing here; skipping NFKD for them keeps CJK text cheap.
  if ((codePoint >= 0x3400 && codePoint <= 0x9fff) || (codePoint >= 0xac00 && codePoint <= 0xdfff)) {
    return '\uFFFD';
  }
  const character = String.fromCodePoint(codePoint);
  const known = CONFUSABLES.get(character);
  if (known !== undefined) return known;
  if (INVISIBLE.test(character)) return '';
  if (/\s/.test(character)) return ' ';
  const plain = character.normalize('NFKD').replace(MARKS, '');
  if (plain === character || plain.length > 4) return CONFUSABLES.get(character.toLowerCase()) ?? '\uFFFD';
  let piece = '';
  for (const part of plain) {
    const code = part.codePointAt(0)!;
    piece +=
      code < 128 ? ASCII[code]! : (CONFUSABLES.get(part) ?? CONFUSABLES.get(part.toLowerCase()) ?? '\uFFFD');
  }
  return piece.trim() === '' && piece !== '' ? ' ' : piece;
}

function foldAscii(code: number): string {
  if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) return ' ';
  if (code < 0x20 || code === 0x7f) return '';
  const character = String.fromCharCode(code).toLowerCase();
  if (character === 'l' || character === '1') return 'i';
  return character === '0' ? 'o' : character;
}

/** A folded word without what may stand between its letters. */
function squeeze(word: string): string {
  return word.replaceAll(/[ _.-]/g, '');
}

function foldWord(word: string): string {
  return squeeze(Array.from(word, (character) => ASCII[character.charCodeAt(0)]!).join(''));
}

function foldedSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/).map(foldWord));
}

function spaced(word: string): string {
  return foldWord(word).split('').join(GAP);
}
