/**
 * Expressions of other template languages, and how they are written here: operators, filters, arithmetic, and the
 * leading dot of Go. Undefined where the text is none of them.
 */
export function hintForExpression(inside: string): string | undefined {
  const text = inside.trim();
  const block = /^#(if|unless)\s+/.exec(text);
  const expression = block === null ? text : text.slice(block[0].length);
  const called = asCall(expression.trim());
  if (called === undefined) return block === null ? plainHint(expression) : undefined;
  return block === null ? `write {{#if ${called}}}…{{/if}}` : `write {{#${block[1]} ${called}}}`;
}

const OPERAND = String.raw`([\w.@/[\]$-]+|"[^"]*"|'[^']*')`;
const COMPARE = new RegExp(String.raw`^${OPERAND}\s*(===?|!==?|=)\s*${OPERAND}$`);
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
  const [, value = '', filter = ''] = /^([\w.@/-]+)\s*\|\s*([\w-]+)/.exec(text) ?? [];
  if (filter !== '') return `write the helper first: {{${filter} ${value}}}`;
  if (/^\.[A-Za-z_]/.test(text)) return `write the path without the first dot: {{${text.slice(1)}}}`;
  if (/[\w\])]\s+[-+*/%]\s+[\w(]/.test(text)) {
    const path = /^[\w.@-]+/.exec(text)?.[0] ?? 'name';
    return `templates do not calculate: print {{${path}}} as it is, or make the text in a transform`;
  }
  return /\?.*:/.test(text) ? 'write {{#if name}}one{{else}}other{{/if}}' : undefined;
}

/** The inside of the expression that an offset of the text stands in. */
export function expressionAt(text: string, offset: number): string | undefined {
  const open = text.lastIndexOf('{{', offset);
  if (open === -1) return undefined;
  const close = text.indexOf('}}', open);
  return close === -1 ? undefined : text.slice(open + 2, close).replace(/^~|~$/g, '');
}
