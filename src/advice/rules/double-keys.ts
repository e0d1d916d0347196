/** Keys that are given twice. */
import { say } from '../../finding.ts';
import type { Finding } from '../../finding.ts';
import { hint, remedy } from '../rule.ts';

const keyOf = ({ at }: Finding): string =>
  at === undefined ? '' : at.source.text.slice(at.start, at.end).replaceAll(/["']/g, '');

/** Keys of a mapping that are written twice because both are meant, and how the two are joined. */
const TWICE: Readonly<Record<string, string>> = {
  match:
    'write one match with when: {"or": [rule, rule]} for "one or the other", or when: {"and": [rule, rule]} for "both"; for another path, a second entry with its own id',
  when: 'join the rules, as a match has one when: {"and": [rule, rule]}, or {"or": [rule, rule]} where one of them is enough',
  path: 'write a second entry with its own id for the other path: an entry takes one',
  messageTemplate: 'join the texts in one template, with | for several lines',
  mappings: 'put the entries of both below one mappings',
};

export const DOUBLE_KEYS = [
  hint('DUPLICATE_KEY', ['both-are-meant', 'certain'], ({ of }, finding) =>
    of === 'mapping' && Object.hasOwn(TWICE, keyOf(finding)) ? TWICE[keyOf(finding)] : undefined,
  ),
  remedy(
    'DUPLICATE_KEY',
    say`keep one of the two; where a new entry of a list begins here, begin it with a dash`,
    'guess',
  ),
];
