/**
 * Templates that were written for another tool, recognised as a whole: one finding names the language and gives the
 * template in the words of this one. What has no counterpart is named; then the rest is given piece by piece. Looked at
 * only where a template cannot be used as it is, so that nothing that works is taken for another language.
 */
import type { Diagnostic, Place, TextEdit } from '../../document/document.ts';
import { shorten } from '../../document/document.ts';
import { NoCounterpart } from './foreign-call.ts';
import { goTag } from './foreign-go.ts';
import { jinjaTag } from './foreign-jinja.ts';
import { ForeignScope } from './foreign-scope.ts';

/** A template that is longer is not written out in a hint. */
const MAX_SHOWN = 2000;
/** More pieces are not listed. */
const MAX_PIECES = 12;

const TAG = /\{\{((?:[^{}]|\}(?!\}))*)\}\}|\{%((?:[^%{]|%(?!\}))*)%\}|\{#((?:[^#{]|#(?!\}))*)#\}/g;

interface Language {
  readonly name: string;
  readonly note?: string;
  readonly isIt: (source: string) => boolean;
  readonly write: (kind: '{{' | '{%' | '{#', inside: string, scope: ForeignScope) => string;
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'Jinja or Liquid',
    isIt: (source) => /\{%-?\s*(?:if|unless|for|set|assign|elif|elsif|else|end\w+)\b[^%]*%\}/.test(source),
    write: jinjaTag,
  },
  {
    name: 'Go',
    note: 'names are those of the JSON that the sender sends, mostly with a small first letter',
    isIt: (source) =>
      /\{\{-?\s*(?:(?:range|with|if|else if|end|len|index|printf)\b[^{}]*)?(?:[\s({]|(?<=\{))\.[A-Za-z_]|\{\{-?\s*range\s[^{}]|\{\{-?\s*\$\w+\s*:=|\{\{-?\s*(?:template|define)\s+"/.test(
        source,
      ),
    write: (kind, inside, scope) => (kind === '{{' ? goTag(inside, scope) : none(inside)),
  },
];

interface Piece {
  readonly from: string;
  /** Absent where there is no counterpart. */
  readonly to?: string;
}

export interface ForeignTemplate {
  readonly language: string;
  readonly note: string | undefined;
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
  const tags = [...source.matchAll(TAG)];
  const pieces = tags.map((tag) => pieceOf(tag, scope, language));
  const [first, last] = [tags[0], tags.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const isWhole = !scope.isOpen && pieces.every(({ to }) => to !== undefined);
  return {
    language: language.name,
    note: language.note,
    start: first.index,
    end: last.index + last[0].length,
    pieces,
    ...(isWhole ? { text: replaced(source, pieces) } : {}),
  };
}

interface FindingOptions {
  readonly placeOf: (start: number, end: number) => Place;
  /** Whether a text is a template that can be used here. */
  readonly isRight: (text: string) => boolean;
  readonly severity: Diagnostic['severity'];
}

/** The finding, in place of all others. */
export function foreignFinding(
  foreign: ForeignTemplate,
  { placeOf, isRight, severity }: FindingOptions,
): Diagnostic {
  const { language, note, pieces } = foreign;
  const text = foreign.text !== undefined && isRight(foreign.text) ? foreign.text : undefined;
  const written = text === undefined || text.length > MAX_SHOWN ? listed(pieces) : shown(text);
  const at = placeOf(foreign.start, foreign.start + (pieces[0]?.from.length ?? 0));
  const edit = text === undefined ? undefined : editOf(placeOf(foreign.start, foreign.end), pieces);
  return {
    severity,
    code: 'TEMPLATE_FOREIGN_SYNTAX',
    message: `this is a template of ${language}; templates here are Handlebars`,
    at,
    hint: note === undefined ? written : `${written}\n(${note})`,
    ...(edit === undefined ? {} : { edit }),
  };
}

function shown(text: string): string {
  const lines = text.trimEnd();
  return lines.includes('\n') ? `write\n${lines}` : `write ${lines}`;
}

function listed(pieces: readonly Piece[]): string {
  const unique = [...new Map(pieces.map((piece) => [piece.from, piece])).values()];
  const written = unique
    .slice(0, MAX_PIECES)
    .map(({ from, to }) =>
      to === undefined
        ? `${shorten(from)} has no counterpart: make that text in a transform`
        : `${shorten(from)} is ${to === '' ? 'left out' : to} here`,
    );
  return written.join('; ');
}

function pieceOf(tag: RegExpExecArray, scope: ForeignScope, { write }: Language): Piece {
  const [from, printed, statement, comment] = tag;
  const kind = printed !== undefined ? '{{' : statement !== undefined ? '{%' : '{#';
  const inside = printed ?? statement ?? comment ?? '';
  try {
    const to = write(kind, inside.replace(/^-(?=\s)/, '').replace(/(?<=\s)-$/, ''), scope);
    return { from, to: trimmed(to, inside) };
  } catch (error) {
    if (!(error instanceof NoCounterpart)) throw error;
    return { from };
  }
}

/** `{{-` takes the blanks before it away, as `{{~` does here. */
function trimmed(text: string, inside: string): string {
  const before = /^-\s/.test(inside) ? text.replace(/^\{\{(?!!)/, '{{~') : text;
  return /\s-$/.test(inside) ? before.replace(/\}\}$/, '~}}') : before;
}

function replaced(text: string, pieces: readonly Piece[]): string {
  let index = 0;
  return text.replaceAll(TAG, (from) => pieces[index++]?.to ?? from);
}

/** The edit, where the tags stand in the file as they do in the template, and no quote of theirs would end the text. */
function editOf(at: Place, pieces: readonly Piece[]): TextEdit | undefined {
  const written = at.source.text.slice(at.start, at.end);
  const tags = [...written.matchAll(TAG)].map(([tag]) => tag);
  const isSame = tags.length === pieces.length && pieces.every(({ from }, index) => tags[index] === from);
  const isPlain = written.includes('\n') || pieces.every(({ to = '' }) => !/["'\\]/.test(to));
  return isSame && isPlain ? { at, text: replaced(written, pieces) } : undefined;
}

function none(what: string): never {
  throw new NoCounterpart(what);
}
