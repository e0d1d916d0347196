/* A template that calculates, which templates do not: the file of a transform that makes the same text. */
import { codeOfSteps, transformFile } from './transform-files.ts';
import type { TemplateSubject } from '../mapping/facts.ts';
import { isReserved } from '../mapping/mapping.ts';

/** Signs by the names of helpers elsewhere. */
const SIGNS: Readonly<Record<string, string>> = {
  divide: '/',
  div: '/',
  dividedBy: '/',
  divided_by: '/',
  multiply: '*',
  mul: '*',
  times: '*',
  add: '+',
  plus: '+',
  sum: '+',
  subtract: '-',
  sub: '-',
  minus: '-',
};
const TEXTS: Readonly<Record<string, string>> = {
  upper: '.toUpperCase()',
  uppercase: '.toUpperCase()',
  lower: '.toLowerCase()',
  lowercase: '.toLowerCase()',
  trim: '.trim()',
};
const OPERAND = String.raw`([A-Za-z_][\w.[\]-]*|\d+(?:\.\d+)?)`;
const HELPER = new RegExp(String.raw`^(\w+)\s+${OPERAND}(?:\s+["']?([-+*/])["']?)?(?:\s+${OPERAND})?$`);
const DEFAULT = /^default((?:\s{1,9}[A-Za-z_][\w.[\]-]{0,200}){1,9})$/;
const PLAIN = new RegExp(String.raw`^\(?\s*${OPERAND}\s+([-+*/])\s+${OPERAND}\s*\)?(\.toFixed\(\d*\))?$`);
const METHOD = new RegExp(String.raw`^${OPERAND}(\.(?:toFixed\(\d*\)|toUpperCase\(\)|toLowerCase\(\)))$`);

/** Such a file, where the template is simple enough; undefined where it does not calculate. */
export function calculatedFile({ source, key, id }: TemplateSubject): string | undefined {
  if (key !== 'messageTemplate' && key !== 'textTemplate') return undefined;
  const field = key === 'textTemplate' ? 'text' : 'message';
  let sums = 0;
  const file = textFile(source, { id: id ?? field, field }, (inside) => {
    const code = codeOf(inside);
    if (code?.isSum === true) sums += 1;
    return code?.text;
  });
  return sums === 0 ? undefined : file;
}

/** Letters of a template whose file is printed. */
const MAX_CHARS = 1_000;

/**
 * The file of a transform that makes the text of a template, and the line of the mapping; undefined where a part of it
 * has no such code. `code`: what stands between braces, in JavaScript.
 */
export function textFile(
  source: string,
  { id, field }: { readonly id: string; readonly field: 'message' | 'text' },
  code: (inside: string) => string | undefined,
): string | undefined {
  if (source.length > MAX_CHARS) return undefined;
  const parts = source
    .trimEnd()
    .split(/\{\{\s*([^{}]+?)\s*\}\}/)
    .map((piece, at) => (at % 2 === 1 ? code(piece) : literal(piece)));
  if (parts.includes(undefined)) return undefined;
  const text = parts.map((part, at) => (at % 2 === 1 ? `\${${part ?? ''}}` : part)).join('');
  const file = transformFile({ id }, { lines: [], checks: [], returned: `{ ${field}: \`${text}\` }` });
  return `${file}\nand in the mapping the line transform: ${id}.js in place of ${field}Template`;
}

/** What stands between braces as JavaScript: a path, a sum, the first of several paths; undefined for anything else. */
export const codeOfInside = (inside: string): string | undefined => codeOf(inside)?.text;

const literal = (text: string): string =>
  text.replaceAll(/[`\\]|\$\{/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`);

interface Code {
  readonly text: string;
  /** Whether something is calculated. */
  readonly isSum: boolean;
}

function codeOf(inside: string): Code | undefined {
  const [, a, sign, b, fixed = ''] = PLAIN.exec(inside) ?? [];
  if (a !== undefined) return { text: sum(read(a), sign ?? '', read(b ?? ''), fixed), isSum: true };
  const [, value, method = ''] = METHOD.exec(inside) ?? [];
  if (value !== undefined && method !== '')
    return { text: `${read(value)}${method}`, isSum: method.startsWith('.toFixed') };
  const [, either] = DEFAULT.exec(inside) ?? [];
  if (either !== undefined) {
    const [only = '', ...more] = either.trim().split(/\s+/).map(read);
    return { text: [only, ...more].join(' || '), isSum: false };
  }
  const [, name = '', first, between, second] = HELPER.exec(inside) ?? [];
  if (first === undefined)
    return /^[A-Za-z_][\w.[\]-]*$/.test(inside) ? { text: read(inside), isSum: false } : undefined;
  const operator = between ?? (Object.hasOwn(SIGNS, name) ? SIGNS[name] : undefined);
  if (second !== undefined)
    return operator === undefined
      ? undefined
      : { text: sum(read(first), operator, read(second)), isSum: true };
  return Object.hasOwn(TEXTS, name)
    ? { text: `${read(first)}${TEXTS[name] ?? ''}`, isSum: false }
    : undefined;
}

const sum = (a: string, sign: string, b: string, behind = ''): string =>
  behind === '' ? `${a} ${sign} ${b}` : `(${a} ${sign} ${b})${behind}`;

/** A path or a number as JavaScript reads it. */
function read(operand: string): string {
  if (/^\d/.test(operand)) return operand;
  const keys = operand.replaceAll(/\.?\[["']?([^\]"']*)["']?\]/g, '.$1').split('.');
  const [root = '', ...rest] = isReserved(keys[0] ?? '') ? keys : ['payload', ...keys];
  return root + codeOfSteps(rest);
}
