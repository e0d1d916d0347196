/** Values that are of another kind than the one that is wanted, or not among those that are taken. */
import { quoted, say } from '../../finding.ts';
import { type AnyRule, rule } from '../rule.ts';
import { findCommentValue } from '../yaml/text-slips.ts';

export const VALUES: readonly AnyRule[] = [
  rule({
    on: 'WRONG_TYPE',
    name: 'comment-in-its-place',
    confidence: 'certain',
    find: (_, { at }) => at && findCommentValue(at),
    say: quoted,
  }),
  rule({
    on: 'WRONG_TYPE',
    name: 'empty',
    confidence: 'guess',
    find: ({ isEmpty }) => isEmpty,
    say: () =>
      say`give it a value, or remove the key; lines that belong to the key must be indented deeper than the key`,
  }),
];
