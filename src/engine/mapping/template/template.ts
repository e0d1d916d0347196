/** Templates: those of Handlebars, without escaping, partials, decorators and prototypes. */
import Handlebars from 'handlebars';
import { quoted, say } from '../../../base/finding.ts';
import { type Finding, type LocatedValue, type Place, placeWithin } from '../../../base/document/document.ts';
import type { CompiledTemplate } from '../compiled-mapping.ts';
import { literalTemplate, checkOutput, PieceRecorder, Rendering } from './template-rendering.ts';
import { readTemplateSource, type TemplateSource, syntaxFinding } from './template-syntax.ts';
import type { TemplatePart, TemplateRead, TemplateSubject } from './template-subject.ts';
import { type CompiledTree, compileTree } from './template-tree.ts';

/** UTF-16 units of a template's text. */
const MAX_TEMPLATE = 64 * 1024;

/** Handlebars' parser is quadratic in nested ones: a thousand take up to a second. */
const MAX_EXPRESSIONS = 1000;

interface TemplateResult {
  readonly template?: CompiledTemplate;
  readonly findings: readonly Finding[];
  /** What it reads; absent where it has no expression. */
  readonly reads?: readonly TemplateRead[];
}

interface TemplateOptions {
  /** Stands in for the located text. */
  readonly text?: string;
  /** Whether `item` and `index` have a value (default); a warning says where they are read without. */
  readonly withItem?: boolean;
}

/** Compiles a text; a number is taken as text. */
export function compileTemplate(
  located: LocatedValue,
  options: TemplateOptions = {},
): TemplateResult & { readonly subject: TemplateSubject } {
  const { text: source = String(located.value) } = options;
  const placeOf = (start: number, end: number): Place => placeWithin(located, [], start, end);
  const quotes = findQuotes(source, placeOf);
  const result: TemplateResult =
    quotes === undefined ? compileSource(source, located, options) : { findings: [quotes] };
  const { template, findings, reads = [] } = result;
  const isUsable = template !== undefined;
  return { ...result, subject: { kind: 'template', source, findings, isUsable, reads, placeOf } };
}

function compileSource(source: string, located: LocatedValue, { withItem }: TemplateOptions): TemplateResult {
  const at = located.place([]);
  const placeOf = (start: number, end: number): Place => placeWithin(located, [], start, end);
  if (!source.includes('{{')) return { template: literalTemplate(source, at), findings: [] };
  const text = readTemplateSource(source);
  const tooLong = findTooLong(source, text, at);
  if (tooLong !== undefined) return { findings: [tooLong] };
  const parsed = parse({ source, text, placeOf });
  if (parsed.program === undefined) return { findings: [parsed.finding] };
  const tree = compileTree(parsed.program, (loc) => locateIn(source, text, { loc, placeOf }), withItem);
  const { findings, reads, blocks, names } = tree;
  if (findings.length > 0) return { findings, reads };
  const template = { source, at, blocks, reads: [...names], readsAt: reads, ...runsOf(tree) };
  return { template, findings, reads };
}

function findTooLong(source: string, { expressions }: TemplateSource, at: Place): Finding | undefined {
  const isLong = source.length > MAX_TEMPLATE;
  if (!isLong && expressions <= MAX_EXPRESSIONS) return undefined;
  return {
    severity: 'error',
    code: 'TEMPLATE_TOO_LONG',
    message: quoted(
      isLong
        ? `the template is longer than ${MAX_TEMPLATE} characters`
        : `the template has more than ${MAX_EXPRESSIONS} expressions`,
    ),
    at: { ...at, end: at.start },
  };
}

function parse(
  context: Parameters<typeof syntaxFinding>[1],
): { readonly program: hbs.AST.Program } | { readonly program?: undefined; readonly finding: Finding } {
  try {
    return { program: Handlebars.parse(context.text.text) };
  } catch (error) {
    return { finding: syntaxFinding(error, context) };
  }
}

function locateIn(
  source: string,
  text: TemplateSource,
  { loc, placeOf }: { loc: hbs.AST.SourceLocation; placeOf: (start: number, end: number) => Place },
): TemplatePart {
  const start = text.offsetAt(loc.start.line, loc.start.column);
  const end = text.offsetAt(loc.end.line, loc.end.column);
  return { text: source.slice(start, end), at: placeOf(start, end) };
}

function runsOf({ write }: CompiledTree): Pick<CompiledTemplate, 'render' | 'pieces'> {
  const run = (rendering: Rendering): string => {
    const value = rendering.scope.request.payload;
    return checkOutput(write({ rendering, value, up: undefined, path: undefined, names: [] }));
  };
  return {
    render: (scope, trace) => run(new Rendering(scope, trace)),
    pieces: (scope) => {
      const recorder = new PieceRecorder();
      run(new Rendering(scope, undefined, recorder));
      return recorder.pieces;
    },
  };
}

const SIGNS = '“”„‟‘’‚«»';
/** The first of two such signs with a text between them; a lone one, as in `{{it’s}}`, one in quotes or in brackets, is a letter. */
const SIGN = new RegExp(`"[^"]*"|'[^']*'|\\[[^\\[\\]]*\\]|([${SIGNS}])[^${SIGNS}"']*[${SIGNS}]`, 'g');

/** The first expression of a template with such quotes; undefined where there is none. */
function findQuotes(source: string, placeOf: (start: number, end: number) => Place): Finding | undefined {
  for (const { 0: expression, index: start } of source.matchAll(/\{\{[^{}]*\}\}/g)) {
    const sign = [...expression.matchAll(SIGN)].find((match) => match[1] !== undefined)?.[1];
    if (sign === undefined || /^\{\{~?!/.test(expression)) continue;
    return {
      severity: 'error',
      code: 'TEMPLATE_SYNTAX',
      message: say`${sign} is no quote of a template`,
      hint: say`write " or ' in the place of each of them`,
      at: placeOf(start, start + expression.length),
    };
  }
  return undefined;
}
