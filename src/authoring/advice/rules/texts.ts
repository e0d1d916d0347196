/** Texts of a mapping that YAML ends at a comment. */
import type { Path, Place } from '../../../base/document/document.ts';
import { singleQuoted } from '../../../base/document/facts.ts';
import { say } from '../../../base/finding.ts';
import { type MappingSubject } from '../../../engine/mapping/facts.ts';
import type { LookFinding, Look } from '../rule.ts';

/** Texts with templates. */
const TEXTS =
  'messageTemplate textTemplate instructions name sessionKey to dedupe.key debounce.key maxRuns.key'
    .split(' ')
    .map((key): Path => key.split('.'));
/** Letters of a text that is written out. */
const MAX_SHOWN = 200;

/** Texts that YAML ends at ` #`, where a comment begins: `Ticket #{{id}}`. */
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
  /** The comment. */
  readonly at: Place;
  /** The value with the comment, as it was meant. */
  readonly whole: string;
  readonly isSure: boolean;
}

/** A comment behind a plain value of one line that was meant as a part of it. */
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

/** The text of a run that has nothing of the request in it: its agent never sees what came. A word or two may be a bell. */
function readsNothing({ located, compiled }: MappingSubject): readonly LookFinding[] {
  const { templates, transform, action, match, behaviours } = compiled;
  const template = templates.get('messageTemplate');
  // Of what a condition chose, words alone can tell.
  if (action !== 'agent' || match.when !== undefined || transform !== undefined || template === undefined)
    return [];
  const isEscaped = /\\\{\{/.test(template.source);
  // What has signs of other tools is told as theirs.
  const isSentence =
    !/[{}]|<%/.test(template.source) && template.source.trim().split(/\s+/).length > MAX_BELL_WORDS;
  if (template.reads.length > 0 || !(isEscaped || isSentence)) return [];
  return [
    {
      message: say`messageTemplate reads nothing of the request, so its agent never sees what came`,
      at: located.place(['messageTemplate']),
      hint: isEscaped
        ? say`write two backslashes, as one before {{ makes a text of the expression`
        : say`print what the agent is to see, as {{title}} does${behaviours.hasGatewayForm ? '' : ', or {{json payload}} for all of it'}`,
    },
  ];
}

const MAX_BELL_WORDS = 3;

export const TEXT_LOOKS: readonly Look[] = [
  { on: 'mapping', codes: ['TEXT_CUT_BY_COMMENT'], find: cutByComment },
  { on: 'mapping', codes: ['TEMPLATE_READS_NOTHING'], find: readsNothing },
];
