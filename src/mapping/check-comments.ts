import { say } from '../finding.ts';
import { singleQuoted, withEdit, type Place } from '../document/document.ts';
import { TEXTS, type CheckedTexts } from './check-texts.ts';
import type { MappingCode } from './mapping-codes.ts';

/** Other texts with templates, each below its own keys; in these only a template behind the sign tells a cut. */
const KEYS = [['name'], ['sessionKey'], ['to'], ['dedupe', 'key'], ['debounce', 'key']] as const;
/** What people write behind a sign of a comment, also without a blank. */
const NOTE = /^#+(?:todo|fixme|note|nb|hack|xxx|noqa|nolint|yaml|region|endregion)\b/i;
const MAX_SHOWN = 200;

/** Texts that YAML ends at ` #`, where a comment begins: `Ticket #{{id}}`. */
export function checkComments({ located, reporter }: CheckedTexts): void {
  for (const path of [...TEXTS.map((key) => [key]), ...KEYS]) {
    if (typeof located.at(path).value !== 'string') continue;
    const isText = path.length === 1 && (TEXTS as readonly string[]).includes(path[0] ?? '');
    const cut = findCut(located.place(path), isText);
    if (cut === undefined) continue;
    const { at, whole, isSure } = cut;
    const quoted = singleQuoted(whole);
    const key = path.at(-1) ?? '';
    const found = {
      severity: 'warning',
      code: 'TEXT_CUT_BY_COMMENT' satisfies MappingCode,
      message: say`the value of ${key} ends before " #", which begins a comment in YAML: what follows is lost`,
      at,
      hint: say`put the whole value in quotes${whole.length > MAX_SHOWN ? '' : `: ${key}: ${quoted}`}`,
    } as const;
    const { source, end } = at;
    const value = located.place(path);
    reporter.diagnostics.push(
      withEdit(found, isSure ? { at: { source, start: value.start, end }, text: quoted } : undefined),
    );
  }
}

interface Cut {
  /** The comment. */
  readonly at: Place;
  /** The value with the comment, as it was meant. */
  readonly whole: string;
  readonly isSure: boolean;
}

/** A comment behind a plain value of one line that was meant as a part of it. */
function findCut({ source, start, end }: Place, isText: boolean): Cut | undefined {
  const value = source.text.slice(start, end).trimEnd();
  if (value === '' || /^["'|>]|\n/.test(value)) return undefined;
  const from = start + value.length;
  const newline = source.text.indexOf('\n', from);
  const rest = source.text.slice(from, newline === -1 ? undefined : newline).trimEnd();
  const comment = rest.trimStart();
  if (comment === rest || !comment.startsWith('#')) return undefined;
  const isTemplate = comment.includes('{{');
  const isJoined = /^#\w/.test(comment) && !NOTE.test(comment);
  const isUnfinished = value.includes('{{') || /[(,;:/&–-]$|\([^()]*$/.test(value);
  if (!isTemplate && !(isText && isJoined && isUnfinished)) return undefined;
  const at = { source, start: from + rest.length - comment.length, end: from + rest.length };
  return { at, whole: value + rest, isSure: comment.startsWith('#{{') };
}
