/*
 * Blocks of other tools that stand in each other (`#switch` with `#case`, `#forEach` with `#ifEquals`) as blocks of this
 * language: their tags are written anew, what stands between them stays. Several such blocks are one mistake, so one
 * finding gives the whole template.
 */
import { applyEdits, shorten, type Diagnostic, type Place, type TextEdit } from '../../document/document.ts';
import { NoCounterpart, wholeHint } from './foreign-call.ts';
import { headOf } from './foreign-helpers.ts';
import { BLOCK_HELPERS } from './template-helpers.ts';

interface Rewriting {
  readonly source: string;
  /** Where a part of the tree stands in the template. */
  readonly rangeOf: (loc: hbs.AST.SourceLocation) => Range;
  /** Names of blocks that are none here, in their order. */
  readonly names: string[];
  readonly changes: Change[];
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** What is written in place of a tag. */
interface Change extends Range {
  readonly text: string;
}

type Rewritten = Pick<Rewriting, 'names' | 'changes'> & { readonly text: string };

/** The template with blocks of this language; undefined where one of its blocks has no counterpart. */
export function rewriteBlocks(
  program: hbs.AST.Program,
  { source, rangeOf }: Pick<Rewriting, 'source' | 'rangeOf'>,
): Rewritten | undefined {
  const state: Rewriting = { source, rangeOf, names: [], changes: [] };
  try {
    rewriteProgram(state, program);
  } catch (error) {
    if (!(error instanceof NoCounterpart)) throw error;
    return undefined;
  }
  const { names } = state;
  const changes = state.changes.toSorted((a, b) => a.start - b.start);
  return {
    names,
    changes,
    text: applyEdits(
      source,
      changes.map((change) => editIn(source, change)),
    ),
  };
}

function editIn(source: string, { start, end, text }: Change): TextEdit {
  return { at: { source: { file: '', text: source }, start, end }, text };
}

function rewriteProgram(state: Rewriting, program: hbs.AST.Program | undefined): void {
  for (const statement of program?.body ?? [])
    if (statement.type === 'BlockStatement') rewriteBlock(state, statement as hbs.AST.BlockStatement);
}

function rewriteBlock(state: Rewriting, block: hbs.AST.BlockStatement): void {
  const name = nameOf(block);
  const isOwn = (BLOCK_HELPERS as readonly string[]).includes(name) && block.params.length === 1;
  if (!isOwn) state.names.push(name);
  if (name.toLowerCase() === 'switch') {
    rewriteSwitch(state, block);
    return;
  }
  if (!isOwn) rewriteTags(state, block, headOf(name, operandsOf(state, block)));
  rewriteProgram(state, block.program);
  rewriteProgram(state, block.inverse);
}

const nameOf = ({ path }: hbs.AST.BlockStatement): string =>
  path.type === 'PathExpression' ? path.original : '';

function operandsOf({ source, rangeOf }: Rewriting, { params }: hbs.AST.BlockStatement): readonly string[] {
  return params.map(({ loc }) => {
    const { start, end } = rangeOf(loc);
    return source.slice(start, end).trim();
  });
}

function rewriteTags(state: Rewriting, block: hbs.AST.BlockStatement, head: string | undefined): void {
  if (head === undefined) throw new NoCounterpart(nameOf(block));
  const { open, close, isElse } = tagsOf(state, block);
  state.changes.push({ ...open, text: isElse ? `{{else ${head}}}` : `{{#${head}}}` });
  if (close !== undefined) state.changes.push({ ...close, text: `{{/${head.split(' ')[0] ?? ''}}}` });
}

/** The tags of a block; one behind `else` has no end of its own. */
function tagsOf(
  { source, rangeOf }: Rewriting,
  block: hbs.AST.BlockStatement,
): { readonly open: Range; readonly close?: Range; readonly isElse: boolean } {
  const { start, end } = rangeOf(block.loc);
  const text = source.slice(start, end);
  const [opening, isElse] = /^\{\{~?\s*(?:#|(else)\s)[^{}]*\}\}/.exec(text) ?? [];
  const [closing = ''] = /\{\{~?\s*\/[^{}]*\}\}$/.exec(text) ?? [];
  if (opening === undefined || (isElse === undefined && closing === '')) throw new NoCounterpart(text);
  const open = { start, end: start + opening.length };
  return isElse === undefined
    ? { open, close: { start: end - closing.length, end }, isElse: false }
    : { open, isElse: true };
}

/** The tags of the first and the last case become those of the whole; what is blank between two cases is left out. */
function rewriteSwitch(state: Rewriting, block: hbs.AST.BlockStatement): void {
  const [value, ...more] = operandsOf(state, block);
  const cases = casesIn(block);
  const { open, close, isElse } = tagsOf(state, block);
  if (value === undefined || more.length > 0 || isElse || close === undefined)
    throw new NoCounterpart('switch');
  for (const [index, one] of cases.entries()) {
    const tags = tagsOf(state, one);
    const head = caseHead(value, operandsOf(state, one));
    state.names.push(nameOf(one));
    if (index === 0) state.changes.push({ ...open, text: `{{#${head}}}` }, { ...tags.open, text: '' });
    else state.changes.push({ ...tags.open, text: head === '' ? '{{~else}}' : `{{~else ${head}}}` });
    if (tags.close !== undefined) state.changes.push({ ...tags.close, text: '' });
    rewriteProgram(state, one.program);
  }
  state.changes.push({ ...close, text: '{{/if}}' });
}

/** The cases of a switch, of which only the last may be the one for all others. */
function casesIn({ program, inverse }: hbs.AST.BlockStatement): readonly hbs.AST.BlockStatement[] {
  const isBlank = ({ type, ...rest }: hbs.AST.Statement): boolean =>
    type === 'CommentStatement' ||
    (type === 'ContentStatement' && (rest as hbs.AST.ContentStatement).value.trim() === '');
  const cases = (program?.body ?? []).filter((one) => !isBlank(one)) as hbs.AST.BlockStatement[];
  const isRight = cases.every((one, index) => {
    if (one.type !== 'BlockStatement' || one.inverse !== undefined) return false;
    const name = nameOf(one).toLowerCase();
    return /^(?:case|when)$/.test(name)
      ? one.params.length > 0
      : /^(?:default|otherwise)$/.test(name) && index > 0 && index === cases.length - 1;
  });
  if (!isRight || cases.length === 0 || inverse !== undefined) throw new NoCounterpart('switch');
  return cases;
}

function caseHead(value: string, operands: readonly string[]): string {
  const tests = operands.map((each) => `(eq ${value} ${each})`);
  if (tests.length === 0) return '';
  return `if ${tests.length === 1 ? (tests[0] ?? '') : `(or ${tests.join(' ')})`}`;
}

/** One finding in place of those of the single blocks, where there are several and the result can be used. */
export function blocksFinding(
  found: readonly Diagnostic[],
  rewritten: Rewritten,
  placeOf: (start: number, end: number) => Place,
): Diagnostic | undefined {
  const [first] = found;
  const names = [...new Set(rewritten.names)];
  const hint = wholeHint(rewritten.text);
  if (first === undefined || rewritten.names.length < 2 || hint === undefined) return undefined;
  const edit = editOf(rewritten.changes, placeOf);
  return {
    severity: 'error',
    code: 'TEMPLATE_UNKNOWN_HELPER',
    message: `unknown block helpers: ${names.map((name) => `"${shorten(name)}"`).join(', ')}`,
    ...(first.at === undefined ? {} : { at: first.at }),
    hint,
    ...(edit === undefined ? {} : { edit }),
  };
}

/** The edit from the first tag to the last, where they stand in the file as they do in the template. */
function editOf(
  changes: readonly Change[],
  placeOf: (start: number, end: number) => Place,
): TextEdit | undefined {
  const places = changes.map(({ start, end, text }) => ({ at: placeOf(start, end), text }));
  const [first, last] = [places[0], places.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const { source } = first.at;
  const isSame = changes.every(({ start, end }, index) => {
    const at = places[index]?.at;
    return at !== undefined && at.end - at.start === end - start;
  });
  const whole = { source, start: first.at.start, end: last.at.end };
  const written = source.text.slice(whole.start, whole.end);
  // A quote that is new may end the text of the file.
  const isRisky = ['"', "'", '\\'].some(
    (sign) => !written.includes(sign) && changes.some(({ text }) => text.includes(sign)),
  );
  if (!isSame || isRisky) return undefined;
  const text = source.text.slice(0, whole.end);
  return { at: whole, text: applyEdits(text, places).slice(whole.start) };
}
