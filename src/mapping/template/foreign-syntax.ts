import { findHelper, HELPERS } from './template-helpers.ts';
import { meantDateFormat } from './date-format.ts';

/**
 * Expressions of other template languages, and how they are written here: operators, filters, arithmetic, and the
 * leading dot of Go. Undefined where the text is none of them.
 */
export function hintForExpression(inside: string): string | undefined {
  const text = inside.trim();
  const block = /^#(if|unless)\s+/.exec(text);
  const expression = block === null ? text : text.slice(block[0].length);
  if (block === null) {
    const [, a, b] = FALLBACK.exec(expression.trim()) ?? [];
    if (b !== undefined) return `write {{default ${a} ${b}}}`;
  }
  const called = asCall(expression.trim());
  if (called === undefined) return block === null ? plainHint(expression) : undefined;
  return block === null ? `write {{#if ${called}}}…{{/if}}` : `write {{#${block[1]} ${called}}}`;
}

const OPERAND = String.raw`([\w.@/[\]$-]+|"[^"]*"|'[^']*')`;
const COMPARE = new RegExp(String.raw`^${OPERAND}\s*(===?|!==?|=)\s*${OPERAND}$`);
/** `a || "text"`, as JavaScript writes a fallback. */
const FALLBACK = new RegExp(String.raw`^([\w.@/[\]$-]+)\s*(?:\|\||\?\?|\bor\b)\s*("[^"]*"|'[^']*')$`);
const LOGIC = new RegExp(String.raw`^${OPERAND}\s*(&&|\|\||and|or)\s*${OPERAND}$`);
const ORDER = new RegExp(String.raw`^${OPERAND}\s*(?:[<>]=?)\s*${OPERAND}$`);

/** `a == "b"` as `(eq a "b")`. */
function asCall(text: string): string | undefined {
  const [, a = '', sign = '', b = ''] = COMPARE.exec(text) ?? LOGIC.exec(text) ?? [];
  if (sign === '') return undefined;
  const name = sign.startsWith('!') ? 'ne' : { '&&': 'and', and: 'and', '||': 'or', or: 'or' }[sign];
  return `(${name ?? 'eq'} ${a} ${b})`;
}

function plainHint(text: string): string | undefined {
  if (ORDER.test(text)) {
    return 'templates do not compare sizes: decide with match.when, or make the text in a transform';
  }
  const filtered = asHelpers(text);
  if (filtered !== undefined) return filtered;
  if (/^\.[A-Za-z_]/.test(text)) return `write the path without the first dot: {{${text.slice(1)}}}`;
  if (/[\w\])]\s+[-+*/%]\s+[\w(]/.test(text)) {
    const path = /^[\w.@-]+/.exec(text)?.[0] ?? 'name';
    return `templates do not calculate: print {{${path}}} as it is, or make the text in a transform`;
  }
  return /\?.*:/.test(text) ? 'write {{#if name}}one{{else}}other{{/if}}' : undefined;
}

/** `x | default('none') | upper`, filters of Jinja and Liquid, as helpers around the value. */
function asHelpers(text: string): string | undefined {
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
  const none =
    unknown.length === 0
      ? ''
      : `; there is no helper ${unknown.join(' and no helper ')}, the helpers are: ${Object.keys(HELPERS).join(' ')}`;
  return `write ${call === value ? '' : 'the helper first: '}{{${call}}}${none}`;
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

/** The inside of the expression that an offset of the text stands in. */
export function expressionAt(text: string, offset: number): string | undefined {
  const open = text.lastIndexOf('{{', offset);
  if (open === -1) return undefined;
  const close = text.indexOf('}}', open);
  return close === -1 ? undefined : text.slice(open + 2, close).replace(/^~|~$/g, '');
}
