import { ExactNumber, type JsonValue } from '../../base/json.ts';
import type { HookRequest } from '../../base/request.ts';
import { namesSecret, REMOVED, SECRET_CARRIER, withoutSecrets } from '../../base/telemetry/telemetry.ts';

const PRIVATE_WORD =
  /(?<!\p{L})(?:e?mails?|phones?|mobile|telephone|fax|address(?:es)?|street|birth(?:day|date)?|ssn|iban|card(?:number)?|passport|signature|session)(?!\p{L})/iu;
/** Words may have a large letter, a sign or a blank between them: "Full Name", full_name and fullName are one. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
/** The pattern begins where a word does, so that each word is looked through once. */
const MAIL_ADDRESS = /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;
/** A search for more takes seconds: 20,000 values in 100 KB take one. */
const MAX_VALUES = 20_000;

/**
 * Returns the values of private fields of these requests; `more` names further fields.
 * @throws Error where there are too many to look for, so that nothing is shown
 */
export function privateValues(requests: readonly HookRequest[], more: readonly string[]): readonly string[] {
  const named = new Set(more.map(plain));
  const found = new Set<string>();
  const ofPerson = (key: string): boolean => {
    const words = key.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_');
    return named.has(plain(key)) || namesSecret(key) || PRIVATE_WORD.test(words);
  };
  const ofCarrier = (key: string): boolean => SECRET_CARRIER.test(key) || ofPerson(key);
  const visit = (value: JsonValue | undefined, isPrivate: boolean, names = ofPerson): void => {
    if (found.size > MAX_VALUES || value === null || value === undefined) return;
    if (Array.isArray(value)) for (const item of value) visit(item, isPrivate);
    else if (value instanceof ExactNumber) visit(String(value), isPrivate);
    else if (typeof value === 'object')
      for (const [key, item] of Object.entries(value)) visit(item, isPrivate || names(key));
    else if (isPrivate && typeof value !== 'boolean') found.add(String(value));
  };
  for (const { payload, headers, query } of requests) {
    visit(payload, false);
    for (const carried of [headers, query]) visit(carried, false, ofCarrier);
  }
  if (found.size > MAX_VALUES)
    throw new Error(
      `requests hold more than ${MAX_VALUES} private values, which cannot be masked: nothing is shown`,
    );
  return [...found];
}

export const maskPrivate = (text: string, values: readonly string[]): string =>
  withoutSecrets(text, values, 'text').replaceAll(MAIL_ADDRESS, REMOVED);
