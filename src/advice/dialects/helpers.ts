/*
 * Helpers of handlebars-helpers, Ghost, SendGrid and their like, in the words of this language: with the user's own
 * operands, and only where the helper here takes so many.
 */
import { spelling } from '../../document/document.ts';
import { HELPERS, type Helper } from '../../mapping/facts.ts';
import { meantDateFormat } from './date-formats.ts';

/** A helper by its name here or in another template language, with its name here. */
export function findHelper(name: string): (Helper & { readonly name: string }) | undefined {
  const known = Object.hasOwn(HELPER_SYNONYMS, name) ? (HELPER_SYNONYMS[name] ?? name) : name;
  const helper = Object.hasOwn(HELPERS, known) ? HELPERS[known] : undefined;
  return helper && { ...helper, name: known };
}

/** What other template languages call a helper. */
export const HELPER_SYNONYMS: Readonly<Record<string, string>> = {
  uppercase: 'upper',
  toUpperCase: 'upper',
  upcase: 'upper',
  lowercase: 'lower',
  toLowerCase: 'lower',
  downcase: 'lower',
  size: 'length',
  count: 'length',
  len: 'length',
  toJson: 'json',
  toJSON: 'json',
  stringify: 'json',
  formatDate: 'date',
  dateFormat: 'date',
  moment: 'date',
  strip: 'trim',
  substring: 'truncate',
  substr: 'truncate',
  equals: 'eq',
  equal: 'eq',
  notEqual: 'ne',
  coalesce: 'default',
  fallback: 'default',
  get: 'lookup',
  d: 'default',
  tojson: 'json',
  to_json: 'json',
  dump: 'json',
  strftime: 'date',
  date_format: 'date',
  truncatechars: 'truncate',
  concat: 'join',
};

const EQUAL: ReadonlySet<string> = new Set(
  'ifequals ifequal ifeq eq equals equal is ifis iseq isequal compare === =='.split(' '),
);
const DIFFERENT: ReadonlySet<string> = new Set(
  'unlessequals unlessequal unlesseq isnt ne neq noteq notequal notequals ifnotequals ifnotequal ifne'.split(
    ' ',
  ),
);
const THERE: ReadonlySet<string> = new Set(
  'exists isset ifexists defined any notempty isnotempty ifany'.split(' '),
);
const EMPTY: ReadonlySet<string> = new Set('empty isempty ifempty notexists ifnot'.split(' '));
const LOOPS: ReadonlySet<string> = new Set(
  'foreach for loop iterate eachindex withindex eachwithindex map list range every'.split(' '),
);
/** Signs between two operands. */
const SIGNS: Readonly<Record<string, string>> = {
  '==': 'eq',
  '===': 'eq',
  eq: 'eq',
  is: 'eq',
  '!=': 'ne',
  '!==': 'ne',
  ne: 'ne',
  '&&': 'and',
  and: 'and',
  '||': 'or',
  or: 'or',
};
/** What templates cannot ask. */
const NOT_ASKED =
  /^(?:if)?(?:gt|gte|lt|lte|greater|less|contains?|includes?|inarray|in|startswith|endswith|matches|between|some)/;

/** What to write for a block of an unknown name; undefined where nothing is known of it. */
export function meantBlock(name: string, operands: readonly string[]): string | undefined {
  const head = headOf(name, operands);
  if (head !== undefined) return `write {{#${head}}} … {{/${head.split(' ')[0] ?? ''}}}`;
  const sign = operands.length === 3 ? unquoted(operands[1] ?? '') : '';
  if (!NOT_ASKED.test(spelling(name)) && !/^(?:[<>]=?|[gl]te?|in|contains)$/.test(sign)) return undefined;
  return 'a template asks only whether values are equal (eq, ne) and whether they are there: compare in a condition (match.when) with a mapping of its own, or in a transform';
}

const unquoted = (text: string): string => text.replace(/^(["'])(.*)\1$/, '$2');

/** The block here, without its braces. */
function headOf(written: string, operands: readonly string[]): string | undefined {
  const name = spelling(written);
  const [first = '', second = '', third = ''] = operands;
  if (operands.length === 3) {
    const sign = unquoted(second);
    const helper = Object.hasOwn(SIGNS, sign) ? SIGNS[sign] : undefined;
    if (LOOPS.has(name))
      return second === 'in' || second === 'of' ? `each ${third} as |${first}|` : undefined;
    return helper === undefined || !/cond|compare|^if|^is$|operator|^when$/.test(name)
      ? undefined
      : `if (${helper} ${first} ${third})`;
  }
  if (operands.length === 2 && EQUAL.has(name)) return `if (eq ${first} ${second})`;
  if (operands.length === 2 && DIFFERENT.has(name)) return `if (ne ${first} ${second})`;
  if (name === 'not' && operands.length === 1) return `unless ${first}`;
  if ((name === 'and' || name === 'or') && operands.length > 1) return `if (${name} ${operands.join(' ')})`;
  if (operands.length !== 1) return undefined;
  if (THERE.has(name)) return `if ${first}`;
  if (EMPTY.has(name)) return `unless ${first}`;
  return LOOPS.has(name) ? `each ${first}` : undefined;
}

/** A call of another tool as a call here, without its braces; undefined where the arguments do not fit. */
export function meantCall(
  name: string,
  args: readonly string[],
  named: Readonly<Record<string, string>>,
): string | undefined {
  const helper = findHelper(name);
  if (helper === undefined) return undefined;
  const { format, tz, timezone = tz, ...others } = named;
  if (Object.keys(others).length > 0) return undefined;
  const given = argumentsOf(helper.name, [...args, ...(format === undefined ? [] : [format])]);
  if (given === undefined || given.length < helper.min || given.length > helper.max) return undefined;
  if (timezone !== undefined && helper.named?.includes('tz') !== true) return undefined;
  return [helper.name, ...given, ...(timezone === undefined ? [] : [`tz=${timezone}`])].join(' ');
}

function argumentsOf(helper: string, args: readonly string[]): readonly string[] | undefined {
  const [value = '', second, third] = args;
  if (helper === 'truncate') {
    const limit = third === undefined ? second : second === '0' ? third : undefined;
    return limit !== undefined && /^\d+$/.test(limit) ? [value, limit] : undefined;
  }
  // What `concat` joins are no elements of a list.
  if (helper === 'join' && args.length > 3) return undefined;
  if (helper !== 'date' || second === undefined) return args;
  const layout = /^(["'])(.*)\1$/.exec(second)?.[2];
  return layout === undefined
    ? args
    : [value, JSON.stringify(meantDateFormat(layout) ?? layout), ...args.slice(2)];
}
