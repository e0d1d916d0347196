/*
 * Expressions of other template languages, of JavaScript and of other Handlebars dialects, one by one: operators,
 * filters, arithmetic, calls, `elseif` and the leading dot of Go, as they are written here.
 */
import { HELPERS } from '../../mapping/facts.ts';
import { meantDateFormat } from './date-formats.ts';
import { findHelper } from './helpers.ts';

/** What to write for an expression. */
interface Here {
  readonly hint: string;
  /** What stands between the braces then, where the hint gives it whole. */
  readonly inside?: string;
  /** It opens a block, of which nobody knows where it ends. */
  readonly isOpening?: true;
  /** A mistake of one sign: it is mended where it stands, and the rest of the template is left alone. */
  readonly isAlone?: true;
}

const whole = (inside: string): Here => ({ hint: `write {{${inside}}}`, inside });
const alone = (inside: string, how: string): Here => ({
  hint: `write ${how}: {{${inside}}}`,
  inside,
  isAlone: true,
});

/** Undefined where the text is no expression of another language that is known here. */
export function foreignExpression(text: string): Here | undefined {
  const [, block, condition = ''] = /^#(if|unless)\s+([^]*)$/.exec(text.trim()) ?? [];
  const expression = (block === undefined ? text : condition).trim();
  const [, a, b] = FALLBACK.exec(expression) ?? [];
  if (block === undefined && b !== undefined) return whole(`default ${a ?? ''} ${b}`);
  const called = asCall(expression);
  if (called === undefined) return block === undefined ? plainExpression(expression) : undefined;
  if (block !== undefined) return whole(`#${block} ${called}`);
  return { hint: `write {{#if ${called}}}…{{/if}}`, inside: `#if ${called}`, isOpening: true };
}

const OPERAND = String.raw`([\w.@/[\]$-]+|"[^"]*"|'[^']*')`;
const TEXT = String.raw`("[^"]*"|'[^']*')`;
const COMPARE = new RegExp(String.raw`^${OPERAND}\s*(===?|!==?|=)\s*${OPERAND}$`);
/** `a || "text"`, as JavaScript writes a fallback. */
const FALLBACK = new RegExp(String.raw`^([\w.@/[\]$-]+)\s*(?:\|\||\?\?|\bor\b)\s*${TEXT}$`);
const LOGIC = new RegExp(String.raw`^${OPERAND}\s*(&&|\|\||and|or)\s*${OPERAND}$`);
const ORDER = new RegExp(String.raw`^${OPERAND}\s*(?:[<>]=?)\s*${OPERAND}$`);
const CHOICE = new RegExp(String.raw`^([\w.@/[\]$-]+)\s*\?\s*${TEXT}\s*:\s*${TEXT}$`);

/** `a == "b"` as `(eq a "b")`. */
function asCall(text: string): string | undefined {
  const [, a = '', sign = '', b = ''] = COMPARE.exec(text) ?? LOGIC.exec(text) ?? [];
  if (sign === '') return undefined;
  const name = sign.startsWith('!') ? 'ne' : { '&&': 'and', and: 'and', '||': 'or', or: 'or' }[sign];
  return `(${name ?? 'eq'} ${a} ${b})`;
}

function plainExpression(text: string): Here | undefined {
  if (ORDER.test(text))
    return {
      hint: 'templates do not compare sizes: decide with match.when, or make the text in a transform',
    };
  const filtered = asHelpers(text);
  if (filtered !== undefined) return filtered;
  if (/^\.[A-Za-z_]/.test(text)) return alone(text.slice(1), 'the path without the first dot');
  if (/[\w\])]\s+[-+*/%]\s+[\w(]/.test(text)) {
    const path = /^[\w.@-]+/.exec(text)?.[0] ?? 'name';
    return {
      hint: `templates do not calculate: print {{${path}}} as it is, or make the text in a transform`,
    };
  }
  const [, flag, yes = '', no = ''] = CHOICE.exec(text) ?? [];
  if (flag !== undefined) return whole(`#if ${flag}}}${yes.slice(1, -1)}{{else}}${no.slice(1, -1)}{{/if`);
  return /\?.*:/.test(text) ? { hint: 'write {{#if name}}one{{else}}other{{/if}}' } : undefined;
}

/** `x | default('none') | upper`, filters of Jinja and Liquid, as helpers around the value. */
function asHelpers(text: string): Here | undefined {
  const [value = '', ...filters] = text
    .split(/(?<!\|)\|(?!\|)(?=(?:[^"']|"[^"]*"|'[^']*')*$)/)
    .map((one) => one.trim());
  if (filters.length === 0 || !/^(?:[\w.@/[\]-]+|"[^"]*"|'[^']*')$/.test(value)) return undefined;
  const unknown: string[] = [];
  let call = value;
  for (const { name, helper, args } of filters.map(readFilter)) {
    if (helper === undefined) unknown.push(`"${name}"`);
    else call = [helper, call === value ? value : `(${call})`, ...args].join(' ');
  }
  const here = call === value ? whole(call) : alone(call, 'the helper first');
  return unknown.length === 0
    ? here
    : {
        hint: `${here.hint}; there is no helper ${unknown.join(' and no helper ')}, the helpers are: ${Object.keys(HELPERS).join(' ')}`,
      };
}

interface Filter {
  readonly name: string;
  /** Absent where there is none that does the same. */
  readonly helper?: string;
  /** What stands behind the value in a call of the helper. */
  readonly args: readonly string[];
}

/** `default('none')`, `default: 'none'` and `default 'none'`. */
function readFilter(text: string): Filter {
  const [, name = '', inParentheses, behind = ''] = /^([\w-]+)\s*(?:\((.*)\)|:?\s*(.*))$/.exec(text) ?? [];
  const helper = findHelper(name);
  if (helper === undefined) return { name, args: [] };
  const given = (inParentheses ?? behind).match(/"[^"]*"|'[^']*'|[^\s,]+/g) ?? [];
  const args = given.slice(0, helper.max - 1);
  const isDate = helper.name === 'date';
  return { name, helper: helper.name, args: isDate ? args.map((one) => meantDateFormat(one) ?? one) : args };
}

/** Methods of JavaScript with the helper that does the same. */
const METHODS: Readonly<Record<string, string>> = {
  toUpperCase: 'upper',
  toLocaleUpperCase: 'upper',
  toLowerCase: 'lower',
  toLocaleLowerCase: 'lower',
  trim: 'trim',
  join: 'join',
  slice: 'truncate',
  substring: 'truncate',
  substr: 'truncate',
  toISOString: 'date',
  toLocaleDateString: 'date',
  toLocaleString: '',
  toString: '',
};

const PATH = String.raw`[A-Za-z_@][\w.@/[\]-]*`;
const METHOD = new RegExp(String.raw`^(${PATH})\??\.(\w+)\(([^()]*)\)$`);
const CALL = new RegExp(String.raw`^(JSON\.stringify|\w+)\(\s*(${PATH})\s*((?:,[^()]*)?)\)$`);
const ELSE = /^(?:else\s*-?if|elif|elsif)\s+(\S.*)$/i;

/** A time zone behind the format, without its name. */
const ZONE = /^(date\s+\S+\s+(?:"[^"]*"|'[^']*'))\s+("[A-Za-z]+(?:\/[\w/+-]+)?"|'[A-Za-z]+(?:\/[\w/+-]+)?')$/;

/** What stands between the braces, in the words of this language; undefined where nothing is known of it. */
function expressionHere(inside: string): string | undefined {
  const text = inside.trim();
  const branch = ELSE.exec(text)?.[1];
  if (branch !== undefined) {
    const inner =
      expressionHere(`#if ${branch}`) ??
      (/^[\w.@/[\]-]+$|^\(.*\)$/.test(branch) ? `#if ${branch}` : undefined);
    return inner === undefined ? undefined : `else ${inner.slice(1)}`;
  }
  const [, date, zone] = ZONE.exec(text) ?? [];
  if (date !== undefined) return `${date} tz=${zone ?? ''}`;
  const own = calledHere(text);
  if (own !== undefined) return own;
  const here = foreignExpression(text);
  return here?.isAlone === true ? undefined : here?.inside;
}

function calledHere(text: string): string | undefined {
  const [, path, method = '', args = ''] = METHOD.exec(text) ?? [];
  if (path !== undefined && path !== 'JSON' && Object.hasOwn(METHODS, method)) {
    const helper = METHODS[method] ?? '';
    const given: readonly string[] = args.match(/"[^"]*"|'[^']*'|[^,\s]+/g) ?? [];
    if (helper === '') return path;
    if (helper === 'truncate')
      return given[0] === '0' && /^\d+$/.test(given[1] ?? '')
        ? `truncate ${path} ${given[1] ?? ''}`
        : undefined;
    return helper === 'join' ? ['join', path, ...given].join(' ') : `${helper} ${path}`;
  }
  const [, name = '', value, more = ''] = CALL.exec(text) ?? [];
  if (value === undefined) return undefined;
  if (name === 'JSON.stringify') return `json ${value}`;
  const helper = findHelper(name);
  return (
    helper &&
    [helper.name, value, ...more.split(',').map((each) => each.trim())]
      .filter((each) => each !== '')
      .join(' ')
  );
}

/** Expressions of a template that are written anew. */
interface Rewritten {
  /** The whole template. */
  readonly template: string;
  /** From the first of them to the last. */
  readonly start: number;
  readonly end: number;
  readonly middle: string;
  /** Each of them. */
  readonly texts: readonly string[];
}

/** A template whose expressions are written as here; undefined where nothing is known of any. */
export function rewriteExpressions(source: string): Rewritten | undefined {
  const changed: { readonly start: number; readonly end: number; readonly text: string }[] = [];
  for (const match of source.matchAll(/(?<!\{)\{\{(~?)([^{}]{1,300})(~?)\}\}(?!\})/g)) {
    const [all, open = '', inside = '', close = ''] = match;
    const here = expressionHere(inside);
    if (here === undefined || here === inside.trim()) continue;
    changed.push({ start: match.index, end: match.index + all.length, text: `{{${open}${here}${close}}}` });
  }
  const [first] = changed;
  const last = changed.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const middle = changed
    .map(({ start, text }, index) => source.slice(changed[index - 1]?.end ?? first.start, start) + text)
    .join('');
  return {
    template: source.slice(0, first.start) + middle + source.slice(last.end),
    start: first.start,
    end: last.end,
    middle,
    texts: changed.map(({ text }) => text),
  };
}
