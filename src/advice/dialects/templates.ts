/**
 * Templates that were written for another tool, recognised as a whole: one finding names the language and gives the
 * template in the words of this one. What has no counterpart is named; then the rest is given piece by piece. Looked at
 * only where a template cannot be used as it is, so that nothing that works is taken for another language.
 */
import { quoted, say } from '../../finding.ts';
import { shorten, type Place, type TextEdit } from '../../document/document.ts';
import type { Found } from '../rule.ts';
import { NoCounterpart, wholeHint } from './calls.ts';
import { goTag } from './go.ts';
import { jinjaTag } from './jinja.ts';
import { ForeignScope } from './scope.ts';
import { BLOCK_HELPERS, type TemplateSubject } from '../../mapping/facts.ts';
import { mustacheTags, n8nTag, scriptTag, zapierTag } from './path-tags.ts';

/** More pieces are not listed. */
const MAX_PIECES = 12;

const TAG = /\{\{((?:[^{}]|\}(?!\}))*)\}\}|\{%((?:[^%{]|%(?!\}))*)%\}|\{#((?:[^#{]|#(?!\}))*)#\}/g;

interface Language {
  readonly name: string;
  readonly note?: string;
  /** What else is to be said where a tag is of this form. */
  readonly noteOn?: { readonly tag: RegExp; readonly note: string };
  readonly isIt: (source: string) => boolean;
  /** What is written in place of a tag. */
  readonly writer: (source: string) => Writer;
  /** Default those of two braces, and of a brace with % or #. */
  readonly tag?: RegExp;
  /** The result is as it was probably meant: no edit. */
  readonly isGuess?: boolean;
}

type Writer = (kind: '{{' | '{%' | '{#', inside: string, scope: ForeignScope) => string;

const LANGUAGES: readonly Language[] = [
  {
    name: 'Jinja or Liquid',
    isIt: (source) => /\{%-?\s*(?:if|unless|for|set|assign|elif|elsif|else|end\w+)\b[^%]*%\}/.test(source),
    writer: () => jinjaTag,
  },
  {
    name: 'Go',
    note: 'names are those of the JSON that the sender sends, mostly with a small first letter',
    noteOn: {
      tag: /\blen\b[^{}]*\.(?:Firing|Resolved)\b|\.(?:Firing|Resolved)\s*\|\s*len\b/,
      note: "length counts the alerts of every state, as the JSON has one list, alerts, and the state of each in status; for a count of one state alone make the text in a transform: payload.alerts.filter(({ status }) => status === 'firing').length",
    },
    isIt: (source) =>
      /\{\{-?\s*(?:(?:range|with|if|else if|end|len|index|printf)\b[^{}]*)?(?:[\s({]|(?<=\{))\.[A-Za-z_]|\{\{-?\s*range\s[^{}]|\{\{-?\s*\$\w+\s*:=|\{\{-?\s*(?:template|define)\s+"/.test(
        source,
      ),
    writer: () => plain(goTag),
  },
  {
    name: 'n8n',
    isIt: (source) => /\{\{\s*\$(?:json\b|node\[|\()/.test(source),
    writer: () => plain(n8nTag),
  },
  { name: 'Zapier', isIt: (source) => /\{\{\d+__\w/.test(source), writer: () => plain(zapierTag) },
  {
    name: 'JavaScript',
    isIt: (source) =>
      (source.match(/\$\{(?:payload|body|headers|query|item)(?:\?\.|[.[])/g) ?? []).length > 1,
    writer: () => (_, inside) => scriptTag(inside),
    tag: /(?<!\\)\$\{([^{}]*)\}/g,
  },
  {
    name: 'Mustache',
    note: 'a list is written with #each, an object with #with, a flag with #if: choose by what the sender sends; inside #each and #with a path begins at the element',
    isIt: isMustache,
    writer: (source) => plain(mustacheTags(source)),
    isGuess: true,
  },
];

/** Several sections of names, and no tag with an argument, which only Handlebars has; one alone is told by itself. */
function isMustache(source: string): boolean {
  const tags = [...source.matchAll(TAG)].map(([, inside = '']) => inside.trim());
  const isPlain = tags.every((inside) => /^(?:[#^/&{]?\s*[\w.@-]+|![^]*)$/.test(inside));
  const sections = tags.filter((inside) => /^[#^]\s*(?!(?:if|unless|each|with)$)[\w.]+$/.test(inside));
  return isPlain && sections.length > 1;
}

/** Of a language that has two braces alone. */
function plain(write: (inside: string, scope: ForeignScope) => string): Writer {
  return (kind, inside, scope) => {
    if (kind !== '{{') throw new NoCounterpart(inside);
    return isOwn(inside, scope) ? `{{${inside}}}` : write(inside, scope);
  };
}

/** Whether it is written in the words of this language already, as in a template that is half translated. */
function isOwn(inside: string, scope: ForeignScope): boolean {
  const [, sign, word = '', behind = ''] = /^\s*([#^/]?)\s*([A-Za-z_][\w.]*)([^]*)$/.exec(inside) ?? [];
  const isHelper = (BLOCK_HELPERS as readonly string[]).includes(word);
  if (sign === '#' && isHelper) scope.open(`{{/${word}}}`, ['each', 'with'].includes(word) ? 1 : 0);
  if (sign === '/' && isHelper) scope.close();
  return sign === '' ? behind.trim() === '' && word !== 'end' : isHelper;
}

interface Piece {
  readonly from: string;
  /** Where it stands in the template. */
  readonly index: number;
  /** Absent where there is no counterpart. */
  readonly to?: string;
}

export interface ForeignTemplate {
  readonly language: Language;
  readonly start: number;
  readonly end: number;
  readonly pieces: readonly Piece[];
  /** The whole template in the words of this language; absent where a piece has no counterpart. */
  readonly text?: string;
}

/** Undefined where the text is no template of a language that is known here. */
export function readForeign(source: string): ForeignTemplate | undefined {
  const language = LANGUAGES.find(({ isIt }) => isIt(source));
  if (language === undefined) return undefined;
  const scope = new ForeignScope();
  const { tag: pattern = TAG } = language;
  const tags = [...source.matchAll(pattern)];
  const write = language.writer(source);
  const pieces = tags.map((tag) => pieceOf(tag, scope, write));
  const [first, last] = [tags[0], tags.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const isWhole = !scope.isOpen && pieces.every(({ to }) => to !== undefined);
  return {
    language,
    // The = of n8n marks the whole text.
    start: source.startsWith('={{') ? 0 : first.index,
    end: last.index + last[0].length,
    pieces,
    ...(isWhole ? { text: replaced(source, pattern, pieces) } : {}),
  };
}

/** The finding on it, in place of all others. */
export function foreignFinding(
  foreign: ForeignTemplate,
  { placeOf, isRight, isUsable }: Pick<TemplateSubject, 'placeOf' | 'isRight' | 'isUsable'>,
): Found {
  const { language, pieces } = foreign;
  const { name, tag = TAG, isGuess = false } = language;
  const changed = pieces.filter(({ from, to }) => from !== to);
  const text = foreign.text !== undefined && isRight(foreign.text) ? foreign.text : undefined;
  const written = (text === undefined ? undefined : wholeHint(text)) ?? listed(changed);
  const [{ index, from } = { index: foreign.start, from: '' }] = changed;
  const at = placeOf(index, index + from.length);
  const edit =
    text === undefined || isGuess ? undefined : editOf(placeOf(foreign.start, foreign.end), tag, pieces);
  return {
    // Text between marks of Jinja may be meant as text.
    severity: isUsable ? 'warning' : 'error',
    message: say`this is a template of ${name}; templates here are Handlebars`,
    at,
    hint: quoted([written, ...notesOf(foreign).map((note) => `(${note})`)].join('\n')),
    ...(edit === undefined ? {} : { edit }),
  };
}

function notesOf({ language: { note, noteOn }, pieces }: ForeignTemplate): readonly string[] {
  const isOn = pieces.some(({ from, to }) => to !== undefined && noteOn?.tag.test(from) === true);
  return [...(isOn && noteOn !== undefined ? [noteOn.note] : []), ...(note === undefined ? [] : [note])];
}

function listed(pieces: readonly Piece[]): string {
  // The end of a block without a counterpart says nothing of its own.
  const told = pieces.filter(({ from, to }) => to !== undefined || !/^\{\{-?\s*end\b/.test(from));
  const unique = [...new Map(told.map((piece) => [piece.from, piece])).values()];
  const written = unique
    .slice(0, MAX_PIECES)
    .map(({ from, to }) =>
      to === undefined
        ? `${shorten(from)} has no counterpart: make that text in a transform`
        : `${shorten(from)} is ${to === '' ? 'left out' : to} here`,
    );
  return written.join('; ');
}

function pieceOf(tag: RegExpExecArray, scope: ForeignScope, write: Writer): Piece {
  const [from, printed, statement, comment] = tag;
  const kind = printed !== undefined ? '{{' : statement !== undefined ? '{%' : '{#';
  const inside = printed ?? statement ?? comment ?? '';
  try {
    const to = write(kind, inside.replace(/^-(?=\s)/, '').replace(/(?<=\s)-$/, ''), scope);
    return { from, index: tag.index, to: trimmed(to, inside) };
  } catch (error) {
    if (!(error instanceof NoCounterpart)) throw error;
    return { from, index: tag.index };
  }
}

/** `{{-` takes the blanks before it away, as `{{~` does here. */
function trimmed(text: string, inside: string): string {
  const before = /^-\s/.test(inside) ? text.replace(/^\{\{(?!!)/, '{{~') : text;
  return /\s-$/.test(inside) ? before.replace(/\}\}$/, '~}}') : before;
}

function replaced(text: string, tag: RegExp, pieces: readonly Piece[]): string {
  let index = 0;
  return text.replace(/^=(?=\{\{)/, '').replaceAll(tag, (from) => pieces[index++]?.to ?? from);
}

/** The edit, where the tags stand in the file as they do in the template, and no quote of theirs would end the text. */
function editOf(at: Place, tag: RegExp, pieces: readonly Piece[]): TextEdit | undefined {
  const written = at.source.text.slice(at.start, at.end);
  const tags = [...written.matchAll(tag)].map(([one]) => one);
  const isSame = tags.length === pieces.length && pieces.every(({ from }, index) => tags[index] === from);
  const isPlain = written.includes('\n') || pieces.every(({ to = '' }) => !/["'\\]/.test(to));
  const { text } = at.source;
  // Without quotes, what begins with {{ would be a map in YAML.
  const isBare = /:\s*$/.test(text.slice(text.lastIndexOf('\n', at.start - 1) + 1, at.start));
  return isSame && isPlain && !isBare ? { at, text: replaced(written, tag, pieces) } : undefined;
}
