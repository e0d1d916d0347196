/* Helpers and blocks of other template languages, in the words of this one. */
import { SIGNS } from './field-rules.ts';
import { spelling } from '../../../base/document/facts.ts';

/** What other template languages call a helper. */
export const HELPER_SYNONYMS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    upper: 'uppercase toUpperCase toUpper upcase',
    lower: 'lowercase toLowerCase toLower downcase',
    length: 'size count len',
    json: 'toJson toJSON tojson to_json stringify',
    date: 'formatDate dateFormat moment strftime',
    trim: 'strip',
    truncate: 'substring substr',
    eq: 'equals equal',
    ne: 'notEqual',
    default: 'coalesce fallback',
  }).flatMap(([name, others]) => others.split(' ').map((other) => [other, name])),
);

const LOOPS = /^(?:foreach|for|loop|iterate|range)$/;
/** What to write for a block of an unknown name; undefined where nothing is known of it. */
export function blockHint(written: string, operands: readonly string[]): string | undefined {
  const name = spelling(written);
  const [first = '', second = '', third = ''] = operands;
  const isSign = operands.length === 3;
  const [, prefix, word = ''] =
    /^(if|unless)?(.*)$/.exec(isSign ? second.replaceAll(/["']/g, '') : name) ?? [];
  const sign = operands.length < 2 ? undefined : SIGNS.get(word);
  if (sign === '===' || sign === '!==') {
    const helper = (sign === '===') === (prefix !== 'unless') ? 'eq' : 'ne';
    return `open it as {{#if (${helper} ${first} ${isSign ? third : second})}}, and close it as {{/if}}`;
  }
  if (LOOPS.test(name) && operands.length === 1)
    return `open it as {{#each ${first}}}, and close it as {{/each}}`;
  return /^(?:if)?(?:gt|lt|greater|less|contains|includes|in|startswith|endswith|matches)/.test(name)
    ? 'compare in a condition (match.when) with a mapping of its own, or in a transform: a template asks only whether values are equal (eq, ne) and whether they are there'
    : undefined;
}
