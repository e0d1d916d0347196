/**
 * Spoofed markers and control tokens are looked for in a skeleton of the text and replaced in the text itself. A
 * replacement leaves a visible remark instead of nothing: the two halves round a removed token must not become another
 * one. Time is linear: the skeleton is built in one pass, and every pattern is bounded from a fixed first character.
 */
import { findMarkers } from './markers.ts';
import { foldText, type Skeleton, type Spoof } from './skeleton.ts';
import { findTokens } from './tokens.ts';

/**
 * Texts that may have something to neutralise: a bracket, an entity, the letters "xtern" of a marker that stands without
 * brackets, and anything outside of ASCII, which the skeleton tells faster than a pattern of all look-alikes could.
 */
const SUSPICIOUS = /[<[\]\u0080-\uffff]|&[#a-z]|x[\W_]*t[\W_]*e[\W_]*r[\W_]*n/i;

/** Unicode's tag characters, invisible doubles of printable ASCII. */
const TAGS = /[\u{E0021}-\u{E007E}]/u;

/**
 * Replaces spoofed boundary markers and model control tokens in external text, whatever their case, spacing, width,
 * look-alike letters, entities or invisible characters. Text without any of them is returned as it is. O(n).
 */
export function neutralise(text: string): string {
  if (!SUSPICIOUS.test(text)) return text;
  const once = replaceFindings(text, findSpoofs(text, foldText(text)));
  // Between other letters tag characters are noise; alone they can spell a word that models read.
  return TAGS.test(once) ? replaceFindings(once, findSpoofs(once, foldText(once, { readTags: true }))) : once;
}

export function findSpoofs(text: string, skeleton: Skeleton): readonly Spoof[] {
  const findings = [...findMarkers(text, skeleton), ...findTokens(text, skeleton)];
  return findings.toSorted((a, b) => a.start - b.start || b.end - a.end);
}

function replaceFindings(text: string, findings: readonly Spoof[]): string {
  if (findings.length === 0) return text;
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

/** Every action of a request often says the same; more than a few different texts at once are not worth keeping. */
const MAX_TEXTS = 4;

/** Remembers the texts that were neutralised last, so that a text which many actions share is worked through once. */
export class NeutralisedTexts {
  readonly #texts = new Map<string, string>();

  neutralise(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const [oldest] = this.#texts.keys();
    if (this.#texts.size >= MAX_TEXTS && oldest !== undefined) this.#texts.delete(oldest);
    const neutralised = neutralise(text);
    this.#texts.set(text, neutralised);
    return neutralised;
  }
}
