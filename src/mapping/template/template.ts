/**
 * Templates: Handlebars without escaping, partials, decorators and prototype access.
 *
 * Most templates are text and paths only. Those become a list of literals and readers (`compilePlain`), which is an
 * order of magnitude faster and, as a property test holds, prints the same as the Handlebars program (`compileFull`).
 */
import { quoted, type Subject } from '../../finding.ts';
import Handlebars from 'handlebars';
import { type Finding, type LocatedValue, type Place, placeWithin } from '../../document/document.ts';
import { HookError } from '../../errors.ts';
import type { HookRequest, JsonObject, JsonValue } from '../../request.ts';
import { textOf } from './json-text.ts';
import { notePrinted } from './unfit.ts';
import type { CompiledTemplate, RenderTrace, Scope, TemplatePiece } from '../compiled-mapping.ts';
import { compileReader, readRoot, RESERVED_NAMES, type Reader } from '../scope.ts';
import { checkOutput } from './template-budget.ts';
import { makeHelpers, newRendering, type Rendering, type RuntimeHelper } from './template-runtime.ts';
import { pieceOf, PieceRecorder, resolvePaths } from './template-pieces.ts';
import { readTemplateSource, type TemplateSource } from './template-source.ts';
import { syntaxFinding } from './template-syntax.ts';
import { EXACT, OUT, prepareTree, ROOT, THIS, type PreparedTree } from './template-tree.ts';
import type { Located } from './template-checks.ts';
import { findQuotes } from './template-quotes.ts';
import type { TemplateReads, TemplateSubject } from './template-subject.ts';
import { literalTemplate } from './literal-template.ts';

/** UTF-16 units of a template's text. */
const MAX_TEMPLATE = 64 * 1024;

/** Handlebars' parser is quadratic in nested ones: a thousand take up to a second. */
const MAX_EXPRESSIONS = 1000;

interface TemplateResult {
  readonly template?: CompiledTemplate;
  readonly diagnostics: readonly Finding[];
  /** What it reads and calls; absent where it has no expression. */
  readonly reads?: TemplateReads;
  /** What advice may look at. */
  readonly subjects?: readonly Subject[];
}

/** How a template is run: `plain` only where it can be. */
export type TemplateForm = 'plain' | 'full';

interface TemplateOptions {
  /** Chosen by the template unless given (tests compare the two). */
  readonly form?: TemplateForm;
  /** Stands in for the located text. */
  readonly text?: string;
  /** Whether `item` and `index` have a value (default); a warning says where they are read without. */
  readonly withItem?: boolean;
}

/** Compiles templates; one for all templates of a routing table. */
export interface TemplateCompiler {
  /** Compiles a text; a number is taken as text. */
  compile(located: LocatedValue, options?: TemplateOptions): TemplateResult;
}

export function createTemplateCompiler(): TemplateCompiler {
  // An environment of its own: what other code in the process registers with Handlebars cannot be reached.
  const handlebars = Handlebars.create();
  for (const name of Object.keys(handlebars.helpers)) handlebars.unregisterHelper(name);
  const helpers = makeHelpers();
  return { compile: (located, options = {}) => compileTemplate({ handlebars, helpers }, located, options) };
}

interface Engine {
  readonly handlebars: Environment;
  readonly helpers: Readonly<Record<string, RuntimeHelper>>;
}

function compileTemplate(engine: Engine, located: LocatedValue, options: TemplateOptions): TemplateResult {
  const { text: source = String(located.value) } = options;
  const placeOf = (start: number, end: number): Place => placeWithin(located, [], start, end);
  const quotes = findQuotes(source, placeOf);
  const result: TemplateResult =
    quotes === undefined ? compileOwn(engine, located, options) : { diagnostics: [quotes] };
  const { template, diagnostics: findings, reads = NO_READS } = result;
  const subject: TemplateSubject = {
    kind: 'template',
    source,
    findings,
    isUsable: template !== undefined,
    reads,
    placeOf,
  };
  return { ...result, subjects: [subject] };
}

const NO_READS: TemplateReads = { paths: [], calls: [] };

function compileOwn(
  { handlebars, helpers }: Engine,
  located: LocatedValue,
  { form, withItem, text: source = String(located.value) }: TemplateOptions,
): TemplateResult {
  const at = located.place([]);
  const placeOf = (start: number, end: number): Place => placeWithin(located, [], start, end);
  const isLiteral = !source.includes('{{') && form !== 'full';
  if (isLiteral) return { template: literalTemplate(source, at), diagnostics: [] };
  const text = readTemplateSource(source);
  const tooLong = findTooLong(source, text, at);
  if (tooLong !== undefined) return { diagnostics: [tooLong] };
  const parsed = parse(handlebars, text, placeOf);
  if (parsed.program === undefined) return { diagnostics: [parsed.finding] };
  const tree = prepareTree(parsed.program, (loc) => locateIn(source, text, { loc, placeOf }), withItem);
  const { diagnostics, reads } = tree;
  if (diagnostics.length > 0) return { diagnostics, reads };
  const plain = form === 'full' ? undefined : compilePlain(handlebars.parse(text.text), tree);
  const runs = plain ?? compileFull(handlebars, tree, helpers);
  return {
    template: { source, at, blocks: tree.blocks, reads: [...tree.names], readsAt: reads.paths, ...runs },
    diagnostics,
    reads,
  };
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

/** The two ways to run a template. */
type Runs = Pick<CompiledTemplate, 'render' | 'pieces' | 'paths'>;
type Render = CompiledTemplate['render'];
type Environment = ReturnType<typeof Handlebars.create>;

function parse(
  handlebars: Environment,
  text: TemplateSource,
  placeOf: (start: number, end: number) => Place,
): { readonly program: hbs.AST.Program } | { readonly program?: undefined; readonly finding: Finding } {
  try {
    return { program: handlebars.parseWithoutProcessing(text.text) };
  } catch (error) {
    return { finding: syntaxFinding(error, { handlebars, text, placeOf }) };
  }
}

function locateIn(
  source: string,
  text: TemplateSource,
  { loc, placeOf }: { loc: hbs.AST.SourceLocation; placeOf: (start: number, end: number) => Place },
): Located {
  const start = text.offsetAt(loc.start.line, loc.start.column);
  const end = text.offsetAt(loc.end.line, loc.end.column);
  return { text: source.slice(start, end), at: placeOf(start, end) };
}

/** One piece of a plain template: text, or what a path reads. */
type Piece = string | { readonly read: Reader; readonly index: number };

function compilePlain(program: hbs.AST.Program, { expressions }: PreparedTree): Runs | undefined {
  const pieces = plainPieces(program);
  if (pieces === undefined) return undefined;
  const render: Render = (scope, trace) => {
    let text = '';
    for (const piece of pieces) {
      if (typeof piece === 'string') text += piece;
      else {
        const value = piece.read(scope);
        const expression = expressions[piece.index];
        if (value === undefined || value === null) noteEmpty(expression, trace);
        else text += textOf(value);
        if (trace !== undefined && typeof value === 'object' && value !== null)
          notePrinted(trace, scope, { expression: expression?.text ?? '', value });
      }
    }
    return checkOutput(text);
  };
  return {
    render,
    pieces: (scope) => pieces.map((piece) => plainPiece(piece, expressions, scope)),
    paths: () => expressions.flatMap(({ text }) => resolvePaths(text)),
  };
}

/** The pieces of a program of text and paths only; undefined for any other. */
function plainPieces(program: hbs.AST.Program): readonly Piece[] | undefined {
  const pieces: Piece[] = [];
  let index = 0;
  for (const statement of program.body) {
    if (statement.type === 'ContentStatement') pieces.push((statement as hbs.AST.ContentStatement).value);
    else if (statement.type === 'MustacheStatement') {
      const read = readerOf(statement as hbs.AST.MustacheStatement);
      if (read === undefined) return undefined;
      pieces.push({ read, index });
      index += 1;
    } else if (statement.type !== 'CommentStatement') return undefined;
  }
  return pieces;
}

function plainPiece(piece: Piece, expressions: readonly Located[], scope: Scope): TemplatePiece {
  if (typeof piece === 'string') return { text: piece };
  const value = piece.read(scope);
  const expression = expressions[piece.index];
  const text = value === undefined || value === null ? '' : textOf(value);
  return expression === undefined ? { text } : pieceOf(expression, text);
}

/** Reads what a lone path prints; undefined for anything else. */
function readerOf({ path, params, hash }: hbs.AST.MustacheStatement): Reader | undefined {
  if (params.length > 0 || hash !== undefined || path.type !== 'PathExpression') return undefined;
  const { parts, data, depth } = path as hbs.AST.PathExpression;
  if (depth > 0) return undefined;
  if (!data) return compileReader(parts);
  return parts[0] === 'root' ? compileReader(parts.slice(1)) : undefined;
}

function noteEmpty(expression: Located | undefined, trace: RenderTrace | undefined): void {
  if (trace === undefined || expression === undefined) return;
  if (trace.empty.some(({ at }) => at === expression.at)) return;
  trace.empty.push({ expression: expression.text, at: expression.at });
}

function compileFull(
  handlebars: Environment,
  tree: PreparedTree,
  all: Readonly<Record<string, RuntimeHelper>>,
): Runs {
  const used = [OUT, ROOT, THIS, EXACT, ...tree.helpers].flatMap((name) => {
    const helper = all[name];
    return helper === undefined ? [] : [[name, helper] as const];
  });
  const helpers = Object.fromEntries(used);
  const knownHelpers = Object.fromEntries(used.map(([name]) => [name, true]));
  const run = handlebars.compile(tree.program, { noEscape: true, knownHelpersOnly: true, knownHelpers });
  const start = (scope: Scope, rendering: Rendering): string => {
    const root = rootOf(scope, tree);
    return checkOutput(run(root, { ...AS_PARTIAL, helpers, data: { rendering, root } }));
  };
  const render: Render = (scope, trace) => start(scope, newRendering(scope, tree, trace));
  warmUp(render);
  return {
    render,
    pieces: (scope) => {
      const recorder = new PieceRecorder();
      return recorder.pieces(start(scope, { ...newRendering(scope, tree, undefined), recorder }));
    },
    paths: (scope) => {
      const recorder = new PieceRecorder();
      start(scope, { ...newRendering(scope, tree, undefined), recorder });
      return recorder.paths;
    },
  };
}

/** Allows no property of a prototype. */
const OWN_ONLY = { whitelist: Object.freeze(Object.create(null) as object), defaultValue: false };

/**
 * As Handlebars runs partials: with helpers and rights as they are given. Otherwise it wraps each helper and lists the
 * rights anew for every rendering, which takes longer than most templates.
 */
const AS_PARTIAL = {
  partial: true,
  hooks: {},
  protoAccessControl: { properties: OWN_ONLY, methods: OWN_ONLY },
};

/** Handlebars compiles on the first call: now, and not while the first sender waits. */
function warmUp(render: Render): void {
  try {
    render({ request: EMPTY_REQUEST });
  } catch (error) {
    // A helper may refuse to work on nothing.
    if (!(error instanceof HookError)) throw error;
  }
}

const EMPTY_REQUEST: HookRequest = {
  id: '',
  receivedAt: 0,
  seed: 0,
  nonce: '',
  path: '',
  url: '',
  headers: {},
  query: {},
  payload: {},
};

/** The object Handlebars starts from: the names that are read, or everything where the root is used as a whole. */
function rootOf(scope: Scope, { names, whole }: PreparedTree): JsonObject {
  const root = Object.create(null) as Record<string, JsonValue>;
  const { payload } = scope.request;
  if (whole && typeof payload === 'object' && payload !== null) Object.assign(root, payload);
  for (const name of whole ? RESERVED_NAMES : []) delete root[name];
  for (const name of whole ? new Set([...RESERVED_NAMES, ...names]) : names) {
    const value = readRoot(scope, name);
    if (value !== undefined) root[name] = value;
  }
  return root;
}
