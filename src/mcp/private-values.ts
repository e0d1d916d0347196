import { ExactNumber, type JsonValue } from '../json.ts';
import type { HookRequest } from '../request.ts';
import { SECRET_KEY, withoutSecrets } from '../telemetry/telemetry.ts';

/** Fields of people and of credentials, by their names. */
const PRIVATE_KEY =
  /(?:^|[-_.])(?:e?mail|phone|mobile|telephone|fax|address|street|birth(?:day|date)?|ssn|iban|card(?:number)?|passport|signature|authorization|cookie|session)(?:$|[-_.])/i;
const MAIL_ADDRESS = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;
/** To look for more takes seconds: 20,000 in 100 KB take one. */
const MAX_VALUES = 20_000;

/**
 * The values of private fields of these requests; `more` names further fields.
 * @throws Error where there are too many to look for: nothing is shown then
 */
export function privateValues(requests: readonly HookRequest[], more: readonly string[]): readonly string[] {
  const named = new Set(more.map((name) => name.toLowerCase()));
  const found = new Set<string>();
  const visit = (value: JsonValue | undefined, isPrivate: boolean): void => {
    if (found.size > MAX_VALUES || value === null || value === undefined) return;
    if (Array.isArray(value)) for (const item of value) visit(item, isPrivate);
    else if (value instanceof ExactNumber) visit(String(value), isPrivate);
    else if (typeof value === 'object')
      for (const [key, item] of Object.entries(value)) visit(item, isPrivate || isPrivateKey(key));
    else if (isPrivate && typeof value !== 'boolean') found.add(String(value));
  };
  const isPrivateKey = (key: string): boolean => {
    const words = key.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_');
    return named.has(key.toLowerCase()) || SECRET_KEY.test(key) || PRIVATE_KEY.test(words);
  };
  for (const { payload, headers, query } of requests)
    for (const part of [payload, headers, query]) visit(part, false);
  if (found.size > MAX_VALUES)
    throw new Error(
      `requests hold more than ${MAX_VALUES} private values, which cannot be masked: nothing is shown`,
    );
  return [...found];
}

/** A text without these values, and without mail addresses. */
export const maskPrivate = (text: string, values: readonly string[]): string =>
  withoutSecrets(text, values, 'text').replaceAll(MAIL_ADDRESS, '[removed]');
