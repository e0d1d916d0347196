/* Quotes of word processors and chats, which are letters to YAML and JSON: “opened”, „offen“, ‘x’, «x». */
import { isJsonObject, type JsonValue } from '../json.ts';

const SIGNS = '“”„‟‘’‚«»';
const QUOTED = new RegExp(`^[${SIGNS}]([^${SIGNS}]*)[${SIGNS}]$`);
/** A rule whose operators or names stand in such quotes, as it was meant; undefined of any other. */
export function quotesInRule(rule: JsonValue): JsonValue | undefined {
  return hasQuotedKey(rule) ? withoutQuotes(rule) : undefined;
}

function hasQuotedKey(rule: JsonValue): boolean {
  if (Array.isArray(rule)) return (rule as readonly JsonValue[]).some(hasQuotedKey);
  if (!isJsonObject(rule)) return false;
  return Object.entries(rule).some(([key, value]) => QUOTED.test(key) || hasQuotedKey(value));
}

function withoutQuotes(rule: JsonValue): JsonValue {
  if (typeof rule === 'string') return rule.replace(QUOTED, '$1');
  if (Array.isArray(rule)) return (rule as readonly JsonValue[]).map(withoutQuotes);
  if (!isJsonObject(rule)) return rule;
  return Object.fromEntries(
    Object.entries(rule).map(([key, value]) => [key.replace(QUOTED, '$1'), withoutQuotes(value)]),
  );
}
