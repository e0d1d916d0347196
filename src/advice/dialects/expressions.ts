/*
 * Expressions of other template languages and of JavaScript, one by one: comparisons, fallbacks, filters and the leading
 * dot of Go, as they are written here.
 */
import { HELPERS } from '../../mapping/facts.ts';
import { ownDateFormat } from './date-formats.ts';
import { findHelper } from './helpers.ts';

/** What to write for an expression. */
interface Here {
  readonly hint: string;
  /** What stands between the braces then, where the hint gives it whole. */
  readonly inside?: string;
}

const whole = (inside: string): Here => ({ hint: `write {{${inside}}}`, inside });

const OPERAND = String.raw`([\w.@/[\]$-]+|"[^"]*"|'[^']*')`;
const COMPARE = new RegExp(String.raw`^${OPERAND}\s*(===?|!==?|=)\s*${OPERAND}$`);
/** `a || "text"`, as JavaScript writes a fallback. */
const FALLBACK = /^([\w.@/[\]$-]+)\s*(?:\|\||\?\?|\bor\b)\s*("[^"]*"|'[^']*')$/;
const LOGIC = new RegExp(String.raw`^${OPERAND}\s*(&&|\|\||and|or)\s*${OPERAND}$`);
const ORDER = new RegExp(String.raw`^${OPERAND}\s*(?:[<>]=?)\s*${OPERAND}$`);

/** Undefined where the text is no expression of another language that is known here. */
export function expressionHint(text: string): Here | undefined {
  const [, block, condition = ''] = /^#(if|unless)\s+([^]*)$/.exec(text.trim()) ?? [];
  const expression = (block === undefined ? text : condition).trim();
  const [, a, b] = FALLBACK.exec(expression) ?? [];
  if (block === undefined && b !== undefined) return whole(`default ${a ?? ''} ${b}`);
  const called = asCall(expression);
  if (called === undefined) return block === undefined ? plainExpression(expression) : undefined;
  if (block !== undefined) return whole(`#${block} ${called}`);
  return { hint: `write {{#if ${called}}}…{{/if}}` };
}

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
      hint: 'decide with match.when, or make the text in a transform: templates do not compare sizes',
    };
  const filtered = asHelpers(text);
  if (filtered !== undefined) return filtered;
  if (/^\.[A-Za-z_][\w.]*$/.test(text)) return whole(text.slice(1));
  if (/[\w\])]\s+[-+*/%]\s+[\w(]/.test(text))
    return { hint: 'print the value as it is, or make the text in a transform: templates do not calculate' };
  return /\?.*:/.test(text) ? { hint: 'write {{#if name}}one{{else}}other{{/if}}' } : undefined;
}

/** `x | default('none') | upper`, filters of Jinja and Liquid, as helpers around the value. */
function asHelpers(text: string): Here | undefined {
  const [value = '', ...filters] = text
    .split(/(?<!\|)\|(?!\|)(?=(?:[^"']|"[^"]*"|'[^']*')*$)/)
    .map((one) => one.trim());
  if (filters.length === 0 || !/^(?:[\w.@/[\]-]+|"[^"]*"|'[^']*')$/.test(value)) return undefined;
  let call = value;
  for (const filter of filters) {
    const [, name = '', inParentheses, behind = ''] =
      /^([\w-]+)\s*(?:\((.*)\)|:?\s*(.*))$/.exec(filter) ?? [];
    const helper = findHelper(name);
    if (helper === undefined)
      return {
        hint: `choose one of the helpers, which stands before its value, as in {{upper title}}: ${Object.keys(HELPERS).join(' ')}`,
      };
    const given = (inParentheses ?? behind).match(/"[^"]*"|'[^']*'|[^\s,]+/g) ?? [];
    const args = given
      .slice(0, helper.max - 1)
      .map((one) => (helper.name === 'date' ? (ownDateFormat(one) ?? one) : one));
    call = [helper.name, call === value ? value : `(${call})`, ...args].join(' ');
  }
  return whole(call);
}
