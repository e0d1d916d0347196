/** Calls of other template languages as calls of the helpers here. */
import { goDateFormat, meantDateFormat } from './date-formats.ts';
import type { ForeignScope } from './scope.ts';
import { findHelper } from './helpers.ts';

/** An expression as it is written here. */
export interface Written {
  readonly text: string;
  readonly isCall?: boolean;
  /** The elements of a list in this state alone, which have no name of their own here. */
  readonly part?: string | undefined;
  /** The list of which it is the length. */
  readonly counted?: Written;
}

/** An expression of more words than this is nothing that people write. */
const MAX_TOKENS = 100;

/** An expression while it is read, word by word. */
export interface Reading {
  readonly tokens: readonly string[];
  at: number;
  readonly scope: ForeignScope;
}

/** Reads all of a text; `token` is sticky, with the word in its first group. */
export function readExpression(
  text: string,
  {
    token,
    scope,
    read,
  }: { readonly token: RegExp; readonly scope: ForeignScope; readonly read: (reading: Reading) => Written },
): Written {
  const tokens = [...text.matchAll(new RegExp(token.source, 'gy'))];
  const length = tokens.reduce((sum, [whole]) => sum + whole.length, 0);
  if (tokens.length === 0 || tokens.length > MAX_TOKENS || text.slice(length).trim() !== '')
    throw new NoCounterpart(text);
  const reading = { tokens: tokens.map(([, word = '']) => word), at: 0, scope };
  const written = read(reading);
  if (reading.at < tokens.length) throw new NoCounterpart(text);
  return written;
}

/** What has no counterpart here. */
export class NoCounterpart extends Error {}

/** @throws NoCounterpart */
export function noCounterpart(what: string): never {
  throw new NoCounterpart(what);
}

export function call(helper: string, args: readonly Written[]): Written {
  return { text: [helper, ...args.map(asArgument)].join(' '), isCall: true };
}

/** A call within another one stands in brackets. */
export function asArgument({ text, isCall, part }: Written): string {
  if (part !== undefined) return noCounterpart(`${text} of one state`);
  return isCall === true ? `(${text})` : text;
}

/** A filter with the value first, as all helpers here take it. */
export function filtered(name: string, value: Written, args: readonly Written[]): Written {
  if (SAME.has(name)) return value;
  const helper = findHelper(name);
  if (helper === undefined || args.length + 1 < helper.min) throw new NoCounterpart(name);
  const given = args.slice(0, helper.max - 1);
  return call(helper.name, [value, ...(helper.name === 'date' ? given.map(asDateFormat) : given)]);
}

/** Filters that change nothing here, as nothing is escaped. */
const SAME: ReadonlySet<string> = new Set([
  'safe',
  'escape',
  'e',
  'raw',
  'string',
  'html',
  'js',
  'urlquery',
  'safeHtml',
  'print',
  'println',
  'toString',
]);

function asDateFormat({ text }: Written): Written {
  const layout = goDateFormat(text);
  return { text: layout === text ? (meantDateFormat(text) ?? text) : layout };
}

/** A template that is longer is not written out. */
const MAX_SHOWN = 2000;

/** The hint that gives a whole template; undefined where it is too long. */
export function wholeHint(template: string): string | undefined {
  if (template.length > MAX_SHOWN) return undefined;
  const text = template.trimEnd();
  return text.includes('\n') ? `write\n${text}` : `write ${text}`;
}
