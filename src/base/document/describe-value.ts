import { shorten } from '../finding.ts';
import { holdsCredentials } from './secret-ranges.ts';

/** What a value is, for messages: its kind, and itself where it is short and no secret. */
export function describeValue(value: unknown, options: { readonly secret?: boolean } = {}): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') {
    if (value === '') return 'an empty string';
    return options.secret === true || holdsCredentials(value)
      ? 'a string'
      : `the string ${JSON.stringify(shorten(value))}`;
  }
  if (typeof value === 'number' || typeof value === 'boolean') {
    return options.secret === true ? `a ${typeof value}` : `the ${typeof value} ${String(value)}`;
  }
  return 'an object';
}
