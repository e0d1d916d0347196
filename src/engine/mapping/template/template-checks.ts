import { quoted, say, shorten, plural } from '../../../base/finding.ts';
import { findingAt, type Finding } from '../../../base/document/document.ts';
import type { MappingReport } from '../reporter.ts';
import type { HelperProblem } from '../finding-facts.ts';
import { isTimeZone } from './template-date.ts';
import { BLOCK_HELPERS, HELPERS, isWholeNumber } from './template-helpers.ts';
import type { TemplatePart, TemplateCall } from './template-subject.ts';

/** Where a part of the tree stands in the file, and how it was written there. */
export type Locate = (loc: hbs.AST.SourceLocation) => TemplatePart;

/** Where findings of a template go. */
export interface TemplateReporter {
  readonly locate: Locate;
  readonly findings: Finding[];
}

export function report(state: TemplateReporter, loc: hbs.AST.SourceLocation, finding: MappingReport): void {
  state.findings.push(findingAt(state.locate(loc).at, finding));
}

type WrittenCall = Pick<hbs.AST.MustacheStatement, 'path' | 'params'> & {
  readonly hash?: hbs.AST.Hash | undefined;
};

function callOf({ path, params }: WrittenCall): TemplateCall {
  const name = path.type === 'PathExpression' ? (path as hbs.AST.PathExpression).original : '';
  return { name, hasArguments: params.length > 0 };
}

/** Reports what is wrong with a call, at its name unless `loc` says where. */
function misused(
  state: TemplateReporter,
  called: WrittenCall,
  problem: Omit<HelperProblem, 'call'> & { readonly message: string },
  loc: hbs.AST.SourceLocation = called.path.loc,
): void {
  const { message, ...facts } = problem;
  report(state, loc, {
    code: 'TEMPLATE_HELPER_USAGE',
    message: quoted(message),
    facts: { call: callOf(called), ...facts },
  });
}

export function reportBlock(state: TemplateReporter, block: hbs.AST.BlockStatement, name: string): void {
  if (Object.hasOwn(HELPERS, name))
    return misused(state, block, {
      wrong: 'block',
      message: `the helper "${name}" cannot be used as a block`,
    });
  report(state, block.path.loc, {
    code: 'TEMPLATE_UNKNOWN_HELPER',
    message: say`unknown block helper "${shorten(name)}"`,
    facts: { call: callOf(block), isBlock: true, sign: signOf(state.locate(block.loc).text) },
  });
}

const signOf = (written: string): '#' | '^' | '{{' =>
  written.startsWith('{{{{') ? '{{' : /^\{\{~?\s*\^/.test(written) ? '^' : '#';

/** `#if a b`: a block takes one value. */
export function checkBlock(state: TemplateReporter, block: hbs.AST.BlockStatement, name: string): void {
  const { params } = block;
  if (params.length !== 1)
    misused(state, block, {
      wrong: 'one-value',
      message: `{{#${name}}} takes one value, found ${params.length}`,
    });
  checkNamed(state, block, name === 'if' || name === 'unless' ? ['includeZero'] : []);
}

/** Whether what is called is a helper, and gets what it takes. */
export function checkCall(state: TemplateReporter, called: WrittenCall, name: string): void {
  const helper = Object.hasOwn(HELPERS, name) ? HELPERS[name] : undefined;
  if (helper === undefined) return reportHelper(state, called, name);
  const { params } = called;
  checkNamed(state, called, helper.named ?? []);
  checkOrder(state, called, name);
  if (helper.counted === true) checkCount(state, called, name);
  if (params.length >= helper.min && params.length <= helper.max) return;
  misused(state, called, {
    wrong: 'arity',
    message: `the helper "${name}" takes ${countText(helper)}, found ${params.length}`,
  });
}

function countText({ min, max }: { readonly min: number; readonly max: number }): string {
  if (max === Infinity) return `at least ${plural(min, 'argument')}`;
  return min === max ? plural(min, 'argument') : `${min} to ${plural(max, 'argument')}`;
}

function reportHelper(state: TemplateReporter, called: WrittenCall, name: string): void {
  if ((BLOCK_HELPERS as readonly string[]).includes(name))
    return misused(state, called, { wrong: 'inline', message: `"${name}" is a block helper` });
  const { path, params, hash } = called;
  const isName = (name.includes('.') || /^[A-Z]/.test(name)) && hash === undefined;
  const isBlank = isName && params.length > 0 && params.every(({ type }) => type === 'PathExpression');
  report(state, path.loc, {
    code: 'TEMPLATE_UNKNOWN_HELPER',
    message: isBlank
      ? say`"${shorten(name)}" is no helper, and a name ends at a blank`
      : say`unknown helper "${shorten(name)}"`,
    facts: { call: callOf(called), isBlock: false },
  });
}

/** A literal where a whole number belongs; what a path finds is looked at when it is rendered. */
function checkCount(state: TemplateReporter, called: WrittenCall, name: string): void {
  const [, second] = called.params;
  if (second === undefined || !second.type.endsWith('Literal')) return;
  const { value } = second as { readonly value?: unknown };
  if (isWholeNumber(value)) return;
  const found = shorten(JSON.stringify(value) ?? 'null');
  const message = `the helper "${name}" takes a whole number, 0 or more, as its second argument, found ${found}`;
  misused(state, called, { wrong: 'count', message }, second.loc);
}

function checkNamed(state: TemplateReporter, called: WrittenCall, known: readonly string[]): void {
  const { path, hash } = called;
  const { original: name } = path as hbs.AST.PathExpression;
  for (const { key, value, loc } of hash?.pairs ?? []) {
    if (!known.includes(key)) {
      const message = `the helper "${name}" has no argument "${shorten(key)}="`;
      misused(state, called, { wrong: 'argument', message }, loc);
    } else if (key === 'tz' && value.type === 'StringLiteral') {
      const zone = (value as hbs.AST.StringLiteral).value;
      const message = `there is no time zone "${shorten(zone)}"`;
      if (!isTimeZone(zone)) misused(state, called, { wrong: 'zone', zone, message }, loc);
    }
  }
}

/** Arguments in the order of other tools: what is worked on stands first here. */
function checkOrder(state: TemplateReporter, called: WrittenCall, name: string): void {
  const [first, second] = called.params;
  if (first === undefined || second?.type !== 'PathExpression' || !standsBehind(name, first)) return;
  const written = shorten(state.locate(first.loc).text.trim());
  misused(state, called, {
    wrong: 'order',
    message: `the helper "${name}" takes the value first, found ${written}`,
  });
}

/** Whether it is what the helper takes behind the value: a number, or the text of a format or a separator. */
function standsBehind(name: string, { type }: hbs.AST.Expression): boolean {
  if (['truncate', 'lines'].includes(name)) return type === 'NumberLiteral';
  return ['date', 'join'].includes(name) && type === 'StringLiteral';
}
