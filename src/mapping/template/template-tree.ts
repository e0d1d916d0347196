/**
 * A template's syntax tree, checked and made ready for Handlebars.
 *
 * Every expression that prints becomes a call of `$out`, which turns the value into text and notes what was empty;
 * every block gets its number as a first argument, for coverage; a lone name is always a path, even where a helper is
 * called like it, so that a payload's `date` can be printed. What Handlebars could do beyond this page (partials,
 * decorators, unknown helpers, blocks over plain names) is a finding at its place.
 */
import { say } from '../../finding.ts';
import { shorten, type Finding, type Place } from '../../document/document.ts';
import { ExactNumber, exactNumber } from '../../json.ts';
import { BLOCK_HELPERS, HELPERS } from './template-helpers.ts';
import {
  callOf,
  checkBlock,
  checkCall,
  report,
  reportBlock,
  type Locate,
  type TemplateReporter,
} from './template-checks.ts';
import type { Located, TemplateCall, TemplateReads } from './template-subject.ts';

/** Names that only prepared trees can call: `$` followed by a word is refused in templates as an unknown helper. */
export const OUT = '$out';
export const THIS = '$this';
export const ROOT = '$root';
export const EXACT = '$exact';

export interface PreparedTree {
  readonly program: hbs.AST.Program;
  /** What is printed, in source order; `$out` is called with the index. */
  readonly expressions: readonly Located[];
  /** Openings of blocks, in source order; block helpers are called with the index. */
  readonly blocks: readonly Place[];
  /** Those that print nothing else, by their index. */
  readonly withoutElse: ReadonlySet<number>;
  /** Helpers that are called, blocks included. */
  readonly helpers: ReadonlySet<string>;
  /** First names of all paths, wherever they are read. */
  readonly names: ReadonlySet<string>;
  /** True where the root is used as a whole (`this`, `@root`). */
  readonly whole: boolean;
  readonly diagnostics: readonly Finding[];
  /** What advice looks at. */
  readonly reads: TemplateReads;
}

interface Preparing extends TemplateReporter {
  readonly calls: TemplateCall[];
  readonly paths: TemplateReads['paths'][number][];
  readonly expressions: Located[];
  readonly blocks: Place[];
  readonly withoutElse: Set<number>;
  readonly helpers: Set<string>;
  readonly names: Set<string>;
  whole: boolean;
  /** Whether `item` and `index` have a value. */
  readonly withItem: boolean;
  /** Blocks around it that read an element: paths do not start at the root there. */
  inner: number;
}

/** Blocks whose content reads an element instead of the root. */
const ELEMENT_BLOCKS: readonly string[] = ['each', 'with'];

const LOOP_DATA = ['index', 'key', 'first', 'last'];

export function prepareTree(program: hbs.AST.Program, locate: Locate, withItem = true): PreparedTree {
  const state: Preparing = {
    locate,
    expressions: [],
    blocks: [],
    withoutElse: new Set(),
    helpers: new Set(),
    names: new Set(),
    diagnostics: [],
    calls: [],
    paths: [],
    whole: false,
    withItem,
    inner: 0,
  };
  const prepared = prepareProgram(state, program, []);
  const { calls, paths } = state;
  return { ...state, program: prepared, reads: { calls, paths } };
}

function prepareProgram(
  state: Preparing,
  program: hbs.AST.Program,
  params: readonly string[],
): hbs.AST.Program {
  const known = [...params, ...(program.blockParams ?? [])];
  return { ...program, body: program.body.map((statement) => prepareStatement(state, statement, known)) };
}

function prepareStatement(
  state: Preparing,
  statement: hbs.AST.Statement,
  params: readonly string[],
): hbs.AST.Statement {
  switch (statement.type) {
    case 'MustacheStatement':
      return prepareMustache(state, statement as hbs.AST.MustacheStatement, params);
    case 'BlockStatement':
      return prepareBlock(state, statement as hbs.AST.BlockStatement, params);
    case 'ContentStatement':
    case 'CommentStatement':
      return statement;
    default:
      reportUnsupported(state, statement);
      return statement;
  }
}

function reportUnsupported(state: Preparing, statement: hbs.AST.Statement): void {
  const what = statement.type.startsWith('Partial') ? 'a partial ({{> …}})' : 'a decorator ({{* …}})';
  report(state, statement.loc, {
    code: 'TEMPLATE_NOT_SUPPORTED',
    message: say`a template cannot use ${what}`,
  });
}

function prepareMustache(
  state: Preparing,
  statement: hbs.AST.MustacheStatement,
  params: readonly string[],
): hbs.AST.Statement {
  const { text, at } = state.locate(statement.loc);
  const expression = text.replace(/^\{\{[{&~]*\s*/, '').replace(/\s*[~}]*$/, '');
  const index = state.expressions.push({ text: expression, at }) - 1;
  const value = prepareCall(state, statement, params);
  return {
    ...statement,
    path: pathTo(OUT, statement.loc),
    params: [value, numberLiteral(index, statement.loc)],
    hash: undefined as unknown as hbs.AST.Hash,
  } as hbs.AST.MustacheStatement;
}

function prepareBlock(
  state: Preparing,
  block: hbs.AST.BlockStatement,
  params: readonly string[],
): hbs.AST.Statement {
  const name = block.path.type === 'PathExpression' ? block.path.original : '';
  const opening = state.locate(block.loc);
  const close = opening.text.indexOf('}}');
  const length = close === -1 ? opening.text.length : close + 2;
  const index =
    state.blocks.push({ ...opening.at, end: Math.min(opening.at.end, opening.at.start + length) }) - 1;
  if ((BLOCK_HELPERS as readonly string[]).includes(name)) {
    state.helpers.add(name);
    checkBlock(state, block, name);
  } else reportBlock(state, block, name);
  const prepared = block.params.map((param) => prepareExpression(state, param, params));
  const { program, inverse } = block;
  if (inverse === undefined) state.withoutElse.add(index);
  const depth = ELEMENT_BLOCKS.includes(name) ? 1 : 0;
  state.inner += depth;
  const main = program === undefined ? undefined : prepareProgram(state, program, params);
  state.inner -= depth;
  return {
    ...block,
    params: [numberLiteral(index, block.loc), ...prepared],
    // Handlebars leaves out the side that was not written.
    ...(main === undefined ? {} : { program: main }),
    ...(inverse === undefined ? {} : { inverse: prepareProgram(state, inverse, params) }),
  } as hbs.AST.BlockStatement;
}

/** A mustache or a sub-expression: a path where it is a lone name, else a call of a helper. */
function prepareCall(
  state: Preparing,
  call: hbs.AST.MustacheStatement | hbs.AST.SubExpression,
  params: readonly string[],
): hbs.AST.Expression {
  const { path } = call;
  const alone = call.params.length === 0 && call.hash === undefined;
  if (alone && call.type === 'MustacheStatement') return prepareExpression(state, path, params);
  if (path.type !== 'PathExpression') {
    report(state, path.loc, NO_HELPER);
    return path;
  }
  const { original: name } = path as hbs.AST.PathExpression;
  if (Object.hasOwn(HELPERS, name)) state.helpers.add(name);
  state.calls.push(callOf(state.locate, call));
  checkCall(state, call, name);
  return {
    ...call,
    type: 'SubExpression',
    params: call.params.map((param) => prepareExpression(state, param, params)),
    hash: prepareHash(state, call.hash, params),
  } as hbs.AST.SubExpression;
}

const NO_HELPER = {
  code: 'TEMPLATE_HELPER_USAGE',
  message: say`only a helper can take arguments`,
  facts: { wrong: 'no-helper' },
} as const;

function prepareHash(state: Preparing, hash: hbs.AST.Hash | undefined, params: readonly string[]): unknown {
  if (hash === undefined) return undefined;
  const pairs = hash.pairs.map((pair) => ({ ...pair, value: prepareExpression(state, pair.value, params) }));
  return { ...hash, pairs };
}

function prepareExpression(
  state: Preparing,
  expression: hbs.AST.Expression,
  params: readonly string[],
): hbs.AST.Expression {
  if (expression.type === 'SubExpression') {
    return prepareCall(state, expression as hbs.AST.SubExpression, params);
  }
  if (expression.type === 'NumberLiteral') return prepareNumber(state, expression);
  return expression.type === 'PathExpression'
    ? preparePath(state, expression as hbs.AST.PathExpression, params)
    : expression;
}

/** Handlebars reads numbers as doubles; `$exact` stands in for one that does not fit. */
function prepareNumber(state: Preparing, literal: hbs.AST.Expression): hbs.AST.Expression {
  const { text } = state.locate(literal.loc);
  const isExact = exactNumber(text.trim()) instanceof ExactNumber;
  return isExact ? makeCall(EXACT, [stringLiteral(text.trim(), literal.loc)], literal.loc) : literal;
}

function preparePath(
  state: Preparing,
  path: hbs.AST.PathExpression,
  params: readonly string[],
): hbs.AST.Expression {
  if (path.data) return prepareData(state, path);
  const [first] = path.parts;
  if (first === undefined) return wholeRoot(state, path);
  const isParam = path.depth === 0 && params.includes(first) && !/^\.|this\b/.test(path.original);
  if (isParam) return path;
  state.names.add(first);
  if (path.depth === 0 && state.inner === 0) noteRootPath(state, path.parts, path);
  // With this spelling Handlebars takes the name for a path even where a helper has it.
  const spelled: hbs.AST.PathExpression = { ...path, original: `./${path.parts.join('.')}` };
  return path.depth === 0 ? spelled : path;
}

/** A name with @: the root, or what a loop knows of its element. */
function prepareData(state: Preparing, path: hbs.AST.PathExpression): hbs.AST.Expression {
  const [first = '', ...keys] = path.parts;
  if (first !== 'root') {
    if (!LOOP_DATA.includes(first)) reportData(state, path, first);
    return path;
  }
  const [name] = keys;
  if (name === undefined) return wholeRoot(state, path);
  state.names.add(name);
  noteRootPath(state, keys, path);
  const parts = keys.map((key) => stringLiteral(key, path.loc));
  return makeCall(ROOT, parts, path.loc);
}

function noteRootPath(
  { paths, locate, withItem }: Preparing,
  keys: readonly string[],
  path: hbs.AST.PathExpression,
): void {
  paths.push({ keys, at: locate(path.loc).at, withItem });
}

function reportData(state: Preparing, path: hbs.AST.PathExpression, name: string): void {
  report(state, path.loc, {
    code: 'TEMPLATE_UNKNOWN_DATA',
    message: say`unknown name "@${shorten(path.parts.join('.'))}"`,
    facts: { name, known: ['root', ...LOOP_DATA] },
  });
}

/** `this` may be the root, which Handlebars knows as an object of ours: `$this` gives the payload instead. */
function wholeRoot(state: Preparing, path: hbs.AST.PathExpression): hbs.AST.Expression {
  state.whole = true;
  return makeCall(THIS, [path], path.loc);
}

function makeCall(
  name: string,
  params: hbs.AST.Expression[],
  loc: hbs.AST.SourceLocation,
): hbs.AST.Expression {
  return { type: 'SubExpression', path: pathTo(name, loc), params, loc } as hbs.AST.Expression;
}

function stringLiteral(value: string, loc: hbs.AST.SourceLocation): hbs.AST.Expression {
  return { type: 'StringLiteral', value, original: value, loc } as hbs.AST.Expression;
}

function pathTo(name: string, loc: hbs.AST.SourceLocation): hbs.AST.PathExpression {
  return { type: 'PathExpression', data: false, depth: 0, parts: [name], original: name, loc };
}

function numberLiteral(value: number, loc: hbs.AST.SourceLocation): hbs.AST.NumberLiteral {
  return { type: 'NumberLiteral', value, original: value, loc };
}
