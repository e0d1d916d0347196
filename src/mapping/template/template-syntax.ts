import { quoted, say, type Sentence } from '../../finding.ts';
import type Handlebars from 'handlebars';
import { withEdit, type Finding, type Place, type TextEdit } from '../../document/document.ts';
import type { TemplateSource } from './template-source.ts';
import { expressionAt, hintForExpression } from './foreign-syntax.ts';

interface SyntaxContext {
  readonly handlebars: ReturnType<typeof Handlebars.create>;
  readonly text: TemplateSource;
  readonly placeOf: (start: number, end: number) => Place;
}

/** Where Handlebars' generated lexer stopped. Not in its types; absent, the finding points at the template's start. */
interface Lexer {
  readonly matched?: string;
  readonly match?: string;
}

/** Turns what Handlebars' parser threw into a finding at the place where it stopped. */
export function syntaxFinding(error: unknown, context: SyntaxContext): Finding {
  const { message = '', lineNumber, column, endColumn } = error as Partial<Handlebars.Exception>;
  if (typeof lineNumber !== 'number' || typeof column !== 'number') return stopFinding(message, context);
  const { text, placeOf } = context;
  const start = text.offsetAt(lineNumber, column);
  const end = typeof endColumn === 'number' ? text.offsetAt(lineNumber, endColumn) : start + 1;
  return { ...BROKEN, ...refusal(message), at: placeOf(start, Math.max(end, start + 1)) };
}

const BROKEN = { severity: 'error', code: 'TEMPLATE_SYNTAX' } as const;

interface Said {
  readonly message: Sentence;
  readonly hint?: Sentence;
}

/** What Handlebars itself says of a tree that its grammar takes. */
function refusal(message: string): Said {
  const plain = message.replace(/ - \d+:\d+$/, '').replace("doesn't", 'does not');
  const [, opened, closed = ''] = /^(\S+) does not match (\S+)$/.exec(plain) ?? [];
  if (opened === undefined) return { message: quoted(plain) };
  return {
    message: say`the block {{#${opened}}} is closed by {{/${closed}}}`,
    hint: say`close it with {{/${opened}}}`,
  };
}

/** A text that the grammar does not take: the lexer knows where it stopped. */
function stopFinding(message: string, { handlebars, text, placeOf }: SyntaxContext): Finding {
  const { lexer } = (handlebars as unknown as { readonly Parser?: { readonly lexer?: Lexer } }).Parser ?? {};
  const matched = lexer?.matched ?? '';
  const found = lexer?.match ?? '';
  // Where a closing is missing, what is open helps more than the end of the text.
  const open = found === '' ? findOpen(text.text) : undefined;
  if (open !== undefined)
    return {
      ...unclosed(open, text.text),
      at: placeOf(text.originalOffset(open.start), text.originalOffset(open.end)),
    };
  const stop = matched.length - found.length;
  const start = text.originalOffset(stop);
  const at = placeOf(start, Math.max(text.originalOffset(matched.length), start + 1));
  const explained = explain(message, found, text.text.slice(stop));
  const inside = expressionAt(text.text, stop);
  const foreign = inside === undefined ? undefined : hintForExpression(inside);
  const closed = explained === UNCLOSED_EXPRESSION ? closedAt(text.text, stop) : undefined;
  if (inside === undefined || foreign === undefined)
    return { ...BROKEN, ...explained, ...(closed === undefined ? {} : { hint: quoted(closed) }), at };
  const hint = explained === UNCLOSED_EXPRESSION ? (closed ?? CLOSE_IT) : foreign;
  return withEdit({ ...BROKEN, ...explained, hint: quoted(hint), at }, expressionEdit(inside, foreign, at));
}

function unclosed({ block, start }: Open, text: string): Omit<Finding, 'at'> {
  const hint = closedAt(text, start) ?? CLOSE_IT;
  if (block === undefined) return { ...BROKEN, ...UNCLOSED_EXPRESSION, hint: quoted(hint) };
  return {
    ...BROKEN,
    message: say`the block {{#${block}}} is not closed`,
    hint: say`close it with {{/${block}}}`,
  };
}

/** The edit of a hint that gives the whole expression, where the file has the expression as the template does. */
function expressionEdit(inside: string, hint: string, { source, start }: Place): TextEdit | undefined {
  const written =
    /^write (?:the helper first: |the path without the first dot: )?(\{\{(?:#if \(|#unless \(|[\w.]).*?\}\})(?:…|$)/.exec(
      hint,
    )?.[1];
  const wanted = `{{${inside}}}`;
  const from = source.text.lastIndexOf('{{', start);
  const isWhole = written !== undefined && source.text.startsWith(wanted, from) && !hint.includes('…');
  return isWhole ? { at: { source, start: from, end: from + wanted.length }, text: written } : undefined;
}

const CLOSE_IT = 'close it with }}';
const UNCLOSED_EXPRESSION = { message: say`the template ends inside an expression`, hint: quoted(CLOSE_IT) };

/** The expression that begins at or before an offset as it is written when it is closed, where its text tells its end. */
function closedAt(text: string, offset: number): string | undefined {
  const written = text.slice(text.lastIndexOf('{{', offset));
  const [four, name] = /^\{\{\{\{\s*([\w.]+)\s*\}{2,4}/.exec(text.slice(text.indexOf('{{{{'))) ?? [];
  if (four !== undefined) return `write {{${name ?? ''}}} in place of ${four}`;
  const [found, inside = ''] =
    /^\{\{([#/]?\s*[^{}\n]{1,80}?)\s*\}(?!\})/.exec(written) ??
    /^\{\{([#/]?\s*[\w.@[\]-]+)/.exec(written) ??
    [];
  return found === undefined ? undefined : `write {{${inside}}} in place of ${found}`;
}

interface Open {
  readonly start: number;
  readonly end: number;
  /** Absent for an expression. */
  readonly block?: string;
}

/** The innermost block, or the expression, that is still open where the text ends; O(n). */
function findOpen(text: string): Open | undefined {
  const open: Open[] = [];
  const tag = /\{\{(?:!--[\s\S]*?--\}\}|~?([#^/]?)\s*([\w-]*)([^}]*)(\}\})?)/g;
  for (const match of text.matchAll(tag)) {
    const [whole, kind, block = '', , closing] = match;
    if (kind === undefined) continue;
    const start = match.index;
    if (closing === undefined) return { start, end: start + 2 };
    if (kind === '/') open.pop();
    else if (block !== '' && (kind === '#' || kind === '^'))
      open.push({ start, end: start + whole.length, block });
  }
  return open.at(-1);
}

/** The parser's "Expecting 'A', 'B', got 'C'" in words. */
function explain(message: string, found: string, rest: string): Said {
  const got = /got '(\w+)'/.exec(message)?.[1];
  if (got !== 'EOF' && !rest.includes('}}')) return UNCLOSED_EXPRESSION;
  if (got === undefined || got === 'INVALID') {
    return {
      message: say`unexpected ${found === '' ? 'character' : JSON.stringify(found.slice(0, 80))} in an expression`,
      hint: say`names with special characters are written in brackets: {{[my name]}}; literal braces as \\{{`,
    };
  }
  const unexpected = { message: say`unexpected ${JSON.stringify(found.slice(0, 80))}` };
  return TOKENS.get(got) ?? SIGNS.get(found) ?? unexpected;
}

const ELSE_OUTSIDE = {
  message: say`{{else}} is outside of a block`,
  hint: say`put it between {{#if …}} and {{/if}}`,
};

/** By the parser's name of the token that it did not expect. */
const TOKENS: ReadonlyMap<string, Said> = new Map([
  [
    'EOF',
    { message: say`the template ends inside a block`, hint: say`close it, e.g. with {{/if}} or {{/each}}` },
  ],
  [
    'OPEN_ENDBLOCK',
    { message: say`this closes a block that is not open`, hint: say`remove it, or open the block before it` },
  ],
  ['INVERSE', ELSE_OUTSIDE],
  ['OPEN_INVERSE_CHAIN', ELSE_OUTSIDE],
  [
    'CLOSE_UNESCAPED',
    { message: say`}}} closes nothing but {{{`, hint: say`put a space between }} and a brace of your text` },
  ],
  ['CLOSE', { message: say`a name is missing before }}`, hint: say`write {{name}}; literal braces as \\{{` }],
]);

/** By the text of any other token. */
const SIGNS: ReadonlyMap<string, Said> = new Map([
  ['|', { message: say`unexpected "|"`, hint: say`write the helper first: {{upper title}}` }],
  ['=', { message: say`unexpected "="`, hint: say`compare with a helper: {{#if (eq a b)}}` }],
]);
