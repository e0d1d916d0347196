import type { z } from 'zod';
import { nearestWords } from './did-you-mean.ts';

/** A bound of a text, a list or a number in words. */
export function bound(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  const [limit, word] =
    issue.code === 'too_small'
      ? [issue.minimum, issue.inclusive === false ? 'above' : 'at least']
      : [issue.maximum, issue.inclusive === false ? 'below' : 'at most'];
  const text = String(limit);
  if (issue.origin === 'string') {
    const isBlankRule = issue.code === 'too_small' && text === '1';
    return isBlankRule ? 'a string that is not empty' : `${word} ${text} characters long`;
  }
  if (issue.origin === 'array') return `a list of ${word} ${text} ${text === '1' ? 'entry' : 'entries'}`;
  return `${word} ${text}`;
}

/** A kind of value as messages call it. */
export function kindName(expected: string): string {
  switch (expected) {
    case 'array':
      return 'a list';
    case 'object':
    case 'record':
      return 'an object';
    case 'int':
      return 'a whole number';
    case 'null':
      return 'null';
    default:
      return `a ${expected}`;
  }
}

/** More values are not listed. */
const MAX_LISTED = 8;

/** The values that are taken, in words; of many those that are nearest to what is written. */
export function listed(values: readonly string[], written = ''): string {
  if (values.length <= MAX_LISTED + 1)
    return values.length === 1 ? (values[0] ?? '') : `one of ${values.join(', ')}`;
  const near = nearestWords(written, values).slice(0, MAX_LISTED);
  return `one of ${near.join(', ')} and ${values.length - MAX_LISTED} others`;
}
