/** Keys with signs that only look like blanks or a colon, or that nobody sees: other keys than they look like. */
import { say, type Finding, type SourceText } from '../finding.ts';
import type { DocumentFacts } from './finding-facts.ts';
import { applyEdits } from './text-edit.ts';

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
export function describeStrange(source: SourceText, keys: readonly StrangeKey[]): Finding | undefined {
  const [first] = keys;
  const last = keys.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const written = source.text.slice(first.start, first.end);
  const [sign = ''] = /[\u00A0\u00AD\u2000-\u200D\u202F\u205F\u2060\u3000\uFEFF：]/.exec(written) ?? [];
  const edits = keys.map(({ start, end }) => ({
    at: { source, start, end },
    text: meantText(source.text.slice(start, end)) ?? '',
  }));
  const where = written.startsWith(sign) ? 'before' : 'in';
  const key = (edits[0]?.text ?? '').trim().replace(/:.*$/, '');
  const text = applyEdits(source.text.slice(0, last.end), edits).slice(first.start);
  const edit = { at: { source, start: first.start, end: last.end }, text };
  return {
    severity: 'error',
    code: 'YAML_SYNTAX',
    message: say`invalid YAML: ${nameOf(sign)} stands ${where} the key ${key}`,
    at: { source, start: first.start, end: first.end },
    facts: {
      strange: { count: keys.length, sign, isUnseen: UNSEEN.test(sign), edit },
    } satisfies DocumentFacts['YAML_SYNTAX'],
  };
}

function nameOf(sign: string): string {
  const code = `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  if (sign === '：') return `a wide colon (${code}), which is a letter to YAML,`;
  return UNSEEN.test(sign)
    ? `a sign that nobody sees (${code})`
    : `a space of another kind (${code}), which is a letter to YAML,`;
}
