import { oneLine } from '../boundary/boundary.ts';
import type { Warning } from '../action.ts';
import type { JsonObject } from '../request.ts';
import { AGENT_FIELDS, WAKE_FIELDS, warn } from './fields.ts';

const KNOWN = { wake: new Set<string>(WAKE_FIELDS), agent: new Set<string>(AGENT_FIELDS) };
/** What senders mix up between the two bodies, too far apart for a spelling mistake. */
const MIXED_UP: Readonly<Record<'wake' | 'agent', ReadonlyMap<string, string>>> = {
  wake: new Map([
    ['message', 'text'],
    ['wakeMode', 'mode'],
  ]),
  agent: new Map([
    ['text', 'message'],
    ['prompt', 'message'],
    ['mode', 'wakeMode'],
    ['recipient', 'to'],
    ['sessionId', 'sessionKey'],
  ]),
};
/** Fields looked at; a body with thousands of unknown ones costs no more than this. */
const MAX_LOOKED_AT = 64;

/** Adds a warning for each field of a body that has no meaning, with the field that was probably meant. */
export function warnOfUnknownFields(kind: 'wake' | 'agent', body: JsonObject, warnings: Warning[]): void {
  let looked = 0;
  for (const field in body) {
    if (KNOWN[kind].has(field)) continue;
    looked += 1;
    if (looked > MAX_LOOKED_AT) return;
    const near = nearestField(kind, field);
    const name = oneLine(field, 80);
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    warn(warnings, {
      code: 'unknown_field',
      field,
      message: `${name} is not a field of ${kind} and was ignored${hint}`,
    });
  }
}

function nearestField(kind: 'wake' | 'agent', field: string): string | undefined {
  const mixedUp = MIXED_UP[kind].get(field);
  if (mixedUp !== undefined || field.length < 2 || field.length > 40) return mixedUp;
  const lower = field.toLowerCase().replaceAll(/[_-]/g, '');
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const known of KNOWN[kind]) {
    const name = known.toLowerCase();
    const prefixed =
      name.length >= 4 && (lower.startsWith(name) || (lower.length >= 4 && name.startsWith(lower)));
    const distance = prefixed ? 0.5 : editDistance(lower, name);
    if (distance <= Math.max(1, Math.floor(name.length / 3)) && distance < bestDistance) {
      best = known;
      bestDistance = distance;
    }
  }
  return best;
}

/** Levenshtein distance; O(a·b) for names of at most 40 characters. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = previous[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}
