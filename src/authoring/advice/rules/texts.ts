import type { Path, Place } from '../../../base/document/document.ts';
import { singleQuoted } from '../../../base/document/facts.ts';
import { say } from '../../../base/finding.ts';
import { type MappingSubject } from '../../../engine/mapping/facts.ts';
import type { LookFinding, Look } from '../rule.ts';

const TEXTS =
  'messageTemplate textTemplate instructions name sessionKey to dedupe.key debounce.key maxRuns.key'
    .split(' ')
    .map((key): Path => key.split('.'));
const MAX_SHOWN = 200;

/** YAML ends a text at ` #`, where a comment begins: `Ticket #{{id}}`. */
function cutByComment({ located }: MappingSubject): readonly LookFinding[] {
  return TEXTS.flatMap((path): readonly LookFinding[] => {
    const value = located.place(path);
    const cut = typeof located.at(path).value === 'string' ? findCut(value) : undefined;
    if (cut === undefined) return [];
    const { at, whole, isSure } = cut;
    const text = singleQuoted(whole);
    const key = String(path.at(-1));
    return [
      {
        message: say`the value of ${key} ends before " #", which begins a comment in YAML: what follows is lost`,
        at,
        hint: say`put the whole value in quotes${whole.length > MAX_SHOWN ? '' : `: ${key}: ${text}`}`,
        ...(isSure ? { edit: { at: { ...value, end: at.end }, text } } : {}),
      },
    ];
  });
}

interface CutComment {
  readonly at: Place;
  readonly whole: string;
  readonly isSure: boolean;
}

function findCut({ source, start, end }: Place): CutComment | undefined {
  const value = source.text.slice(start, end).trimEnd();
  if (value === '' || /^["'|>]|\n/.test(value)) return undefined;
  const from = start + value.length;
  const newline = source.text.indexOf('\n', from);
  const rest = source.text.slice(from, newline === -1 ? undefined : newline).trimEnd();
  const comment = rest.trimStart();
  if (comment === rest || !comment.startsWith('#')) return undefined;
  if (!comment.includes('{{')) return undefined;
  const at = { source, start: from + rest.length - comment.length, end: from + rest.length };
  return { at, whole: value + rest, isSure: comment.startsWith('#{{') };
}

export const TEXT_LOOKS: readonly Look[] = [
  { on: 'mapping', codes: ['TEXT_CUT_BY_COMMENT'], find: cutByComment },
];
