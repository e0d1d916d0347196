import { oneLine } from '../../base/boundary/boundary.ts';
import type { Finding } from '../../base/finding.ts';
import { didYouMean } from '../../base/document/document.ts';
import type { JsonObject } from '../../base/request.ts';
import { AGENT_FIELDS, WAKE_FIELDS, warn } from './action-fields.ts';

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
export function warnOfUnknownFields(
  kind: 'wake' | 'agent',
  body: JsonObject,
  warnings: Finding[],
  readElsewhere: readonly string[],
): void {
  let looked = 0;
  for (const field in body) {
    // `source` names the sender inside the safety boundary, whatever the hook.
    if (KNOWN[kind].has(field) || field === 'source' || readElsewhere.includes(field)) continue;
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
  if (mixedUp !== undefined) return mixedUp;
  const lower = field.toLowerCase();
  const begun = [...KNOWN[kind]].find((known) => {
    const name = known.toLowerCase();
    return name.length >= 4 && (lower.startsWith(name) || (lower.length >= 4 && name.startsWith(lower)));
  });
  return begun ?? didYouMean(field, KNOWN[kind]);
}
