/**
 * A template's syntax tree, checked and compiled to closures.
 *
 * Handlebars parses the text and sets its white space; what an expression or a block does is done here, by its rules. A
 * lone name is always a path, even where a helper is called like it, so that a payload's `date` can be printed. What
 * Handlebars could do beyond this page (partials, decorators, unknown helpers, blocks over plain names) is a finding at
 * its place.
 */
import { say, shorten } from '../../../base/finding.ts';
import { type Finding, type Place } from '../../../base/document/document.ts';
import { exactNumber, valueAt } from '../../../base/json.ts';
import { compileReader } from '../scope.ts';
import { type Block, callHelper, type EvaluateArgument, RUN_BLOCK, type Write } from './template-calls.ts';
import {
  checkBlock,
  checkCall,
  report,
  reportBlock,
  type Locate,
  type TemplateReporter,
} from './template-checks.ts';
import { BLOCK_HELPERS, HELPERS } from './template-helpers.ts';
import { type TemplateFrame, joinPath, pathBelow, pathFromRoot } from './template-rendering.ts';
import type { TemplateRead } from './template-subject.ts';

/** A template that can be run where there is no finding. */
export interface CompiledTree {
  readonly write: Write;
  /** Openings of blocks, in source order. */
  readonly blocks: readonly Place[];
  /** First names of all paths, wherever they are read. */
  readonly names: ReadonlySet<string>;
  readonly findings: readonly Finding[];
  /** What advice looks at. */
  readonly reads: readonly TemplateRead[];
}

interface TemplateCompiler extends TemplateReporter {
  readonly reads: TemplateRead[];
  readonly blocks: Place[];
  readonly names: Set<string>;
  /** Whether `item` and `index` have a value. */
  readonly withItem: boolean;
  /** Blocks around it that read an element: paths do not start at the root there. */
  inner: number;
  /** `@key` is read in the block that is compiled. */
  readsKey: boolean;
}

const LOOP_DATA = ['index', 'key', 'first', 'last'] as const;

/** Blocks whose content reads an element instead of the root. */
const ELEMENT_BLOCKS: readonly string[] = ['each', 'with'];

const NO_VALUE: EvaluateArgument = () => undefined;
const NO_TEXT: Write = () => '';

export function compileTree(program: hbs.AST.Program, locate: Locate, withItem = true): CompiledTree {
  const found = { blocks: [], names: new Set<string>(), findings: [], reads: [] };
  const compiler: TemplateCompiler = { ...found, locate, withItem, inner: 0, readsKey: false };
  const write = compileProgram(compiler, program, []);
  const { reads, blocks, names, findings } = compiler;
  return { write, blocks, names, findings, reads };
}

/** `params`: names after `as |…|` of the blocks around it. */
function compileProgram(
  compiler: TemplateCompiler,
  program: hbs.AST.Program,
  params: readonly string[],
): Write {
  const statements = program.body.map((statement) => compileStatement(compiler, statement, params));
  return (frame) => {
    let text = '';
    for (const write of statements) text += write(frame);
    return text;
  };
}

function compileStatement(
  compiler: TemplateCompiler,
  statement: hbs.AST.Statement,
  params: readonly string[],
): Write {
  switch (statement.type) {
    case 'ContentStatement': {
      const { value } = statement as hbs.AST.ContentStatement;
      return ({ rendering }) => {
        rendering.recorder?.add(value);
        return value;
      };
    }
    case 'MustacheStatement':
      return compileMustache(compiler, statement as hbs.AST.MustacheStatement, params);
    case 'BlockStatement':
      return compileBlock(compiler, statement as hbs.AST.BlockStatement, params);
    case 'CommentStatement':
      return NO_TEXT;
    default: {
      const what = statement.type.startsWith('Partial') ? 'a partial ({{> …}})' : 'a decorator ({{* …}})';
      report(compiler, statement.loc, {
        code: 'TEMPLATE_NOT_SUPPORTED',
        message: say`a template cannot use ${what}`,
      });
      return NO_TEXT;
    }
  }
}

function compileMustache(
  compiler: TemplateCompiler,
  statement: hbs.AST.MustacheStatement,
  params: readonly string[],
): Write {
  const { text, at } = compiler.locate(statement.loc);
  const expression = { text: text.replace(/^\{\{[{&~]*\s*/, '').replace(/\s*[~}]*$/, ''), at };
  const isAlone = statement.params.length === 0 && (statement.hash as unknown) === undefined;
  const evaluate = isAlone
    ? compileExpression(compiler, statement.path, params)
    : compileCall(compiler, statement, params);
  return (frame) => {
    frame.rendering.recorder?.begin();
    return frame.rendering.print(expression, evaluate(frame), frame);
  };
}

function compileBlock(
  compiler: TemplateCompiler,
  block: hbs.AST.BlockStatement,
  params: readonly string[],
): Write {
  const name = block.path.type === 'PathExpression' ? block.path.original : '';
  const at = openingOf(compiler, block);
  compiler.blocks.push(at);
  const known = BLOCK_HELPERS.find((each) => each === name);
  if (known === undefined) reportBlock(compiler, block, name);
  else checkBlock(compiler, block, name);
  const [value = NO_VALUE] = block.params.map((param) => compileExpression(compiler, param, params));
  // The parser leaves out the side that was not written.
  const { program, inverse } = block as Partial<hbs.AST.BlockStatement>;
  const names = program?.blockParams ?? [];
  const depth = ELEMENT_BLOCKS.includes(name) ? 1 : 0;
  const { readsKey } = compiler;
  compiler.readsKey = false;
  compiler.inner += depth;
  const main = program ? compileProgram(compiler, program, [...params, ...names]) : NO_TEXT;
  compiler.inner -= depth;
  const readsOwnKey = compiler.readsKey;
  compiler.readsKey = readsKey || (name !== 'each' && readsOwnKey);
  const compiled: Block = {
    value,
    opening: at.source.text.slice(at.start, at.end),
    at,
    main,
    inverse: inverse ? compileProgram(compiler, inverse, params) : NO_TEXT,
    hasInverse: inverse !== undefined,
    names,
    readsKey: readsOwnKey,
    includeZero: compileHash(compiler, block.hash, params)['includeZero'],
  };
  return known === undefined ? NO_TEXT : RUN_BLOCK[known](compiled);
}

function openingOf({ locate }: TemplateCompiler, block: hbs.AST.BlockStatement): Place {
  const { text, at } = locate(block.loc);
  const close = text.indexOf('}}');
  const length = close === -1 ? text.length : close + 2;
  return { ...at, end: Math.min(at.end, at.start + length) };
}

/** A mustache or a sub-expression with a helper. */
function compileCall(
  compiler: TemplateCompiler,
  call: hbs.AST.MustacheStatement | hbs.AST.SubExpression,
  params: readonly string[],
): EvaluateArgument {
  const { path } = call;
  if (path.type !== 'PathExpression') {
    report(compiler, path.loc, NO_HELPER);
    return NO_VALUE;
  }
  const { original: name } = path as hbs.AST.PathExpression;
  checkCall(compiler, call, name);
  const args = call.params.map((param) => compileExpression(compiler, param, params));
  const hash = Object.entries(compileHash(compiler, call.hash, params));
  const helper = Object.hasOwn(HELPERS, name) ? HELPERS[name] : undefined;
  if (helper === undefined) return NO_VALUE;
  return (frame) => {
    const values = args.map((evaluate) => evaluate(frame));
    const named = Object.fromEntries(hash.map(([key, evaluate]) => [key, evaluate(frame)]));
    return callHelper(helper, { values, named }, frame);
  };
}

const NO_HELPER = {
  code: 'TEMPLATE_HELPER_USAGE',
  message: say`only a helper can take arguments`,
  facts: { wrong: 'no-helper' },
} as const;

function compileHash(
  compiler: TemplateCompiler,
  hash: hbs.AST.Hash | undefined,
  params: readonly string[],
): Readonly<Record<string, EvaluateArgument>> {
  return Object.fromEntries(
    (hash?.pairs ?? []).map(({ key, value }) => [key, compileExpression(compiler, value, params)]),
  );
}

function compileExpression(
  compiler: TemplateCompiler,
  expression: hbs.AST.Expression,
  params: readonly string[],
): EvaluateArgument {
  switch (expression.type) {
    case 'SubExpression':
      return compileCall(compiler, expression as hbs.AST.SubExpression, params);
    case 'PathExpression':
      return compilePath(compiler, expression as hbs.AST.PathExpression, params);
    case 'NumberLiteral': {
      // The parser reads a double, and some numbers are longer.
      const number = exactNumber(compiler.locate(expression.loc).text.trim());
      return () => number;
    }
    case 'NullLiteral':
      return () => null;
    default: {
      // A text or a boolean; undefined has no value.
      const { value } = expression as { readonly value?: string | boolean };
      return () => value;
    }
  }
}

function compilePath(
  compiler: TemplateCompiler,
  path: hbs.AST.PathExpression,
  params: readonly string[],
): EvaluateArgument {
  const { parts, depth, original } = path;
  if (path.data) return compileData(compiler, path);
  const [first] = parts;
  // `./name` and `this.name` mean no parameter.
  if (first !== undefined && depth === 0 && params.includes(first) && !/^\.|this\b/.test(original))
    return compileParam(first, parts.slice(1));
  if (first !== undefined) compiler.names.add(first);
  if (first !== undefined && depth === 0 && compiler.inner === 0) noteRootPath(compiler, parts, path);
  const read = compileReader(parts);
  return (frame) => {
    const from = outwards(frame, depth);
    const { rendering } = frame;
    if (rendering.recorder !== undefined) rendering.recorder.note(from && pathBelow(from, parts));
    if (from?.up === undefined) return from && read(rendering.scope);
    return valueAt(from.value, parts);
  };
}

/** What `../` leads to. As in Handlebars, blocks within each other that read the same object are one step. */
function outwards(frame: TemplateFrame, steps: number): TemplateFrame | undefined {
  let from: TemplateFrame | undefined = frame;
  for (let step = 0; step < steps; step += 1) {
    const { value }: TemplateFrame = from;
    from = from.up;
    if (typeof value === 'object') while (from?.up !== undefined && from.value === value) from = from.up;
    if (from === undefined) return undefined;
  }
  return from;
}

function compileParam(name: string, keys: readonly string[]): EvaluateArgument {
  return (frame) => {
    let from: TemplateFrame | undefined = frame;
    while (from !== undefined && !from.names.includes(name)) from = from.up;
    const isElement = from?.names[0] === name;
    frame.rendering.recorder?.note(isElement ? joinPath(from?.path, keys) : undefined);
    return valueAt(isElement ? from?.value : from?.loop?.key, keys);
  };
}

/** A name with @: the root, or what a loop knows of its element. */
function compileData(compiler: TemplateCompiler, path: hbs.AST.PathExpression): EvaluateArgument {
  const [name = '', ...keys] = path.parts;
  if (name === 'root') return compileRoot(compiler, keys, path);
  const known = LOOP_DATA.find((each) => each === name);
  if (known === undefined) {
    report(compiler, path.loc, {
      code: 'TEMPLATE_UNKNOWN_DATA',
      message: say`unknown name "@${shorten(path.parts.join('.'))}"`,
      facts: { name, known: ['root', ...LOOP_DATA] },
    });
    return NO_VALUE;
  }
  compiler.readsKey ||= name === 'key';
  return (frame) => {
    frame.rendering.recorder?.note(undefined);
    let from = loopAround(frame);
    for (let step = 0; step < path.depth; step += 1) from = loopAround(from?.up);
    return valueAt(from?.loop?.[known], keys);
  };
}

function loopAround(frame: TemplateFrame | undefined): TemplateFrame | undefined {
  let from = frame;
  while (from !== undefined && from.loop === undefined) from = from.up;
  return from;
}

function compileRoot(
  compiler: TemplateCompiler,
  keys: readonly string[],
  path: hbs.AST.PathExpression,
): EvaluateArgument {
  const [first] = keys;
  if (first !== undefined) {
    compiler.names.add(first);
    noteRootPath(compiler, keys, path);
  }
  const read = compileReader(keys);
  return ({ rendering }) => {
    rendering.recorder?.note(pathFromRoot(keys));
    return read(rendering.scope);
  };
}

function noteRootPath(
  { reads, locate, withItem }: TemplateCompiler,
  keys: readonly string[],
  path: hbs.AST.PathExpression,
): void {
  reads.push({ keys, at: locate(path.loc).at, withItem });
}
