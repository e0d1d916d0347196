import { SUSPICIOUS } from './confusables.ts';
import { foldText, foldWord, squeeze, type Skeleton } from './skeleton.ts';

/**
 * Spoofed markers and control tokens are looked for in a skeleton of the text and replaced in the text itself. A
 * replacement leaves a visible remark instead of nothing: the two halves round a removed token must not become another
 * one. Time is linear: the skeleton is built in one pass, and every pattern below is bounded from a fixed first
 * character.
 */
interface Finding {
  readonly start: number;
  readonly end: number;
  readonly remark: string;
}

/** Unicode's tag characters, invisible doubles of printable ASCII. */
const TAGS = /[\u{E0021}-\u{E007E}]/u;

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

/**
 * Replaces spoofed boundary markers and model control tokens in external text, whatever their case, spacing, width,
 * look-alike letters, entities or invisible characters. Text without any of them is returned as it is. O(n).
 */
export function neutralise(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const once = neutraliseFolded(text, foldText(text));
  // Between other letters tag characters are noise; alone they can spell a word that models read.
  return TAGS.test(once) ? neutraliseFolded(once, foldText(once, { readTags: true })) : once;
}

function neutraliseFolded(text: string, skeleton: Skeleton): string {
  const findings = [...findMarkers(text, skeleton), ...findTokens(text, skeleton)];
  return findings.length === 0 ? text : replaceFindings(text, findings);
}

function replaceFindings(text: string, findings: Finding[]): string {
  findings.sort((a, b) => a.start - b.start || b.end - a.end);
  const parts: string[] = [];
  let done = 0;
  for (const { start, end, remark } of findings) {
    // A token inside a marker is gone with it; findings never overlap in another way.
    if (start < done) continue;
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

function findTokens(text: string, { folded, startOf, endOf }: Skeleton): Finding[] {
  const findings: Finding[] = [];
  const add = (index: number, length: number) =>
    findings.push({ start: startOf(index), end: endOf(index + length - 1), remark: TOKEN_REMARK });
  for (const match of folded.matchAll(ANGLE)) {
    const [whole, before, word = '', after] = match;
    const piped = before !== '' || after !== '';
    const found = piped ? isPipeWord(word) : ANGLE_WORDS.has(squeeze(word));
    if (found && !isTypeParameter(text, startOf(match.index))) add(match.index, whole.length);
  }
  for (const match of folded.matchAll(SYS)) add(match.index, match[0].length);
  for (const match of folded.matchAll(SQUARE)) {
    if (SQUARE_WORDS.has(squeeze(match[1]!))) add(match.index, match[0].length);
  }
  return findings;
}

/** `Session<S>` is code: no tokenizer knows `<S>`, while `<s>` and `</s>` count wherever they stand. */
function isTypeParameter(text: string, start: number): boolean {
  return text.startsWith('<S>', start) && /\w/.test(text.charAt(start - 1));
}

/** Unspaced identifiers count whatever they are, as models have reserved ones; `f <| x |> g` is code and stays. */
function isPipeWord(word: string): boolean {
  return /^[a-z0-9_]{2,}$/.test(word) || PIPE_WORDS.has(squeeze(word));
}

function foldedSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/).map(foldWord));
}

function spaced(word: string): string {
  return foldWord(word).split('').join(GAP);
}
