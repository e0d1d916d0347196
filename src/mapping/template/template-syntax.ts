import type Handlebars from 'handlebars';
import { withEdit, type Diagnostic, type Place, type TextEdit } from '../../document/document.ts';
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
export function syntaxFinding(error: unknown, { handlebars, text, placeOf }: SyntaxContext): Diagnostic {
  const { message, lineNumber, column, endColumn } = error as Partial<Handlebars.Exception>;
  const base = { severity: 'error', code: 'TEMPLATE_SYNTAX' } as const;
  if (typeof lineNumber === 'number' && typeof column === 'number') {
    const start = text.offsetAt(lineNumber, column);
    const end = typeof endColumn === 'number' ? text.offsetAt(lineNumber, endColumn) : start + 1;
    const plain = (message ?? '').replace(/ - \d+:\d+$/, '').replace("doesn't", 'does not');
    const mismatch = /^(\S+) does not match (\S+)$/.exec(plain);
    return {
      ...base,
      ...(mismatch === null
        ? { message: plain }
        : {
            message: `the block {{#${mismatch[1]}}} is closed by {{/${mismatch[2]}}}`,
            hint: `close it with {{/${mismatch[1]}}}`,
          }),
      at: placeOf(start, Math.max(end, start + 1)),
    };
  }
  const { lexer } = (handlebars as unknown as { readonly Parser?: { readonly lexer?: Lexer } }).Parser ?? {};
  const matched = lexer?.matched ?? '';
  const found = lexer?.match ?? '';
  const start = text.originalOffset(matched.length - found.length);
  const end = text.originalOffset(matched.length);
  const rest = text.text.slice(matched.length - found.length);
  const inside = expressionAt(text.text, matched.length - found.length);
  const foreign = inside === undefined ? undefined : hintForExpression(inside);
  const explained = explain(message ?? '', found, rest);
  const finding = {
    ...base,
    ...explained,
    ...(foreign === undefined || explained === UNCLOSED_EXPRESSION ? {} : { hint: foreign }),
  };
  // Where a closing is missing, what is open helps more than the end of the text.
  const open = found === '' ? findOpen(text.text) : undefined;
  if (open === undefined) {
    const at = placeOf(start, Math.max(end, start + 1));
    const edit = foreign === undefined ? undefined : expressionEdit(inside ?? '', foreign, at);
    return withEdit({ ...finding, at }, edit);
  }
  const at = placeOf(text.originalOffset(open.start), text.originalOffset(open.end));
  return open.block === undefined
    ? { ...base, ...UNCLOSED_EXPRESSION, at }
    : {
        ...base,
        message: `the block {{#${open.block}}} is not closed`,
        hint: `close it with {{/${open.block}}}`,
        at,
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

const UNCLOSED_EXPRESSION = { message: 'the template ends inside an expression', hint: 'close it with }}' };

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
function explain(
  message: string,
  found: string,
  rest: string,
): { readonly message: string; readonly hint?: string } {
  const got = /got '(\w+)'/.exec(message)?.[1];
  if (got !== 'EOF' && !rest.includes('}}')) {
    return UNCLOSED_EXPRESSION;
  }
  switch (got) {
    case 'EOF':
      return {
        message: 'the template ends inside a block',
        hint: 'close it, e.g. with {{/if}} or {{/each}}',
      };
    case 'OPEN_ENDBLOCK':
      return {
        message: 'this closes a block that is not open',
        hint: 'remove it, or open the block before it',
      };
    case 'INVERSE':
    case 'OPEN_INVERSE_CHAIN':
      return {
        message: '{{else}} is outside of a block',
        hint: 'put it between {{#if …}} and {{/if}}',
      };
    case 'CLOSE_UNESCAPED':
      return {
        message: '}}} closes nothing but {{{',
        hint: 'put a space between }} and a brace of your text',
      };
    case 'CLOSE':
      return { message: 'a name is missing before }}', hint: 'write {{name}}; literal braces as \\{{' };
    case 'INVALID':
    case undefined:
      return {
        message: `unexpected ${found === '' ? 'character' : JSON.stringify(found.slice(0, 80))} in an expression`,
        hint: 'names with special characters are written in brackets: {{[my name]}}; literal braces as \\{{',
      };
    default:
      if (found === '|')
        return { message: 'unexpected "|"', hint: 'write the helper first: {{upper title}}' };
      if (found === '=')
        return { message: 'unexpected "="', hint: 'compare with a helper: {{#if (eq a b)}}' };
      return { message: `unexpected ${JSON.stringify(found.slice(0, 80))}` };
  }
}
