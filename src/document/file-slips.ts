/** What came into a YAML file with its text and is none: marks of git and of Markdown, and signs that only look like blanks or a colon. */
import type { SourceText } from '../finding.ts';
import { inWords } from './in-words.ts';
import { positionOf } from './line-column.ts';
import { applyEdits } from './text-edit.ts';
import type { YamlSlip } from './yaml-slip.ts';

/** Of a broken text; a text that is YAML may hold such lines. */
export function findFileSlip(source: SourceText): YamlSlip | undefined {
  return findMergeMarks(source) ?? findFences(source);
}

const MARK = /^(?:<{7}|\|{7}|={7}|>{7})(?: .*)?$/gm;

function findMergeMarks(source: SourceText): YamlSlip | undefined {
  const first = /^<{7} .*$/m.exec(source.text);
  if (first === null) return undefined;
  const lines = linesOf(source, [...source.text.matchAll(MARK)]);
  return {
    message: `the marks of a merge conflict of git stand in the file (${lines})`,
    at: { source, start: first.index, end: first.index + first[0].length },
    hint: 'keep one of the two sides, and remove the other one and the marks',
  };
}

function findFences(source: SourceText): YamlSlip | undefined {
  const fences = [...source.text.matchAll(/^(?:```|~~~)[\w-]*[ \t]*(?:\r?\n|$)/gm)];
  const [first] = fences;
  const last = fences.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const whole = { source, start: first.index, end: last.index + last[0].length };
  const text = source.text
    .slice(whole.start, whole.end)
    .replaceAll(/^(?:```|~~~)[\w-]*[ \t]*(?:\r?\n|$)/gm, '');
  return {
    message: `${first[0].slice(0, 3)} marks code in Markdown, and is no YAML`,
    at: { source, start: first.index, end: first.index + first[0].trimEnd().length },
    hint: `remove ${linesOf(source, fences)}`,
    edit: { at: whole, text },
  };
}

function linesOf({ text }: SourceText, found: readonly RegExpExecArray[]): string {
  const lines = found.slice(0, 8).map(({ index }) => String(positionOf(text, index).line));
  return `line${lines.length === 1 ? '' : 's'} ${inWords(lines)}`;
}

/** Blanks that YAML takes for letters, and signs that nobody sees. */
const BLANK = /[\u00A0\u2000-\u200A\u202F\u205F\u3000]/;
const UNSEEN = /[\u00AD\u200B-\u200D\u2060\uFEFF]/;

export interface StrangeKey {
  readonly start: number;
  readonly end: number;
}

/** The key as it was meant, where it has such signs and is a plain word without them; undefined for every other key. */
function meantText(written: string): string | undefined {
  const plain = written
    .replaceAll(new RegExp(BLANK, 'g'), ' ')
    .replaceAll(new RegExp(UNSEEN, 'g'), '')
    .replace(/^([A-Za-z_][\w.-]*)：\s*/, '$1: ');
  return plain !== written && /^\s*[A-Za-z_][\w.-]*\s*(?::\s.*)?$/.test(plain) ? plain : undefined;
}

export function isStrange(text: string, { start, end }: StrangeKey): boolean {
  return meantText(text.slice(start, end)) !== undefined;
}

/** One finding for all such keys of a file: they came in together. */
export function describeStrange(source: SourceText, keys: readonly StrangeKey[]): YamlSlip | undefined {
  const [first] = keys;
  const last = keys.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const written = source.text.slice(first.start, first.end);
  const [sign = ''] = /[\u00A0\u00AD\u2000-\u200D\u202F\u205F\u2060\u3000\uFEFF：]/.exec(written) ?? [];
  const edits = keys.map(({ start, end }) => ({
    at: { source, start, end },
    text: meantText(source.text.slice(start, end)) ?? '',
  }));
  const whole = { source, start: first.start, end: last.end };
  const text = applyEdits(source.text.slice(0, last.end), edits).slice(first.start);
  return {
    message: `${nameOf(sign)} stands ${written.startsWith(sign) ? 'before' : 'in'} the key ${(edits[0]?.text ?? '').trim().replace(/:.*$/, '')}`,
    at: { source, start: first.start, end: first.end },
    hint: `${keys.length === 1 ? '' : `in ${keys.length} keys, `}write ${wanted(sign)}: it came with a text that was pasted`,
    edit: { at: whole, text },
  };
}

function nameOf(sign: string): string {
  const code = `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  if (sign === '：') return `a wide colon (${code}), which is a letter to YAML,`;
  return UNSEEN.test(sign)
    ? `a sign that nobody sees (${code})`
    : `a space of another kind (${code}), which is a letter to YAML,`;
}

function wanted(sign: string): string {
  if (sign === '：') return 'a plain colon and a space';
  return UNSEEN.test(sign) ? 'the word anew' : 'plain spaces';
}
