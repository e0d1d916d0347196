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
  for (const { field, name, near } of unknownFields(kind, body)) {
    if (readElsewhere.includes(field)) continue;
    const hint = near === undefined ? '' : `; did you mean ${near}?`;
    warn(warnings, {
      code: 'unknown_field',
      field,
      message: `${name} is not a field of ${kind} and was ignored${hint}`,
    });
  }
}

/** What a body without its text has in place of it; empty where every field is one that is read. */
export function foundInPlace(text: 'text' | 'message', body: JsonObject): string {
  const unknown = unknownFields(text === 'text' ? 'wake' : 'agent', body);
  const meant = unknown.find(({ near }) => near === text) ?? unknown[0];
  if (meant === undefined) return '';
  return meant.near === text ? `; write ${text} in place of ${meant.name}` : `; found ${meant.name}`;
}

/** `source` names the sender inside the safety boundary, whatever the hook. */
const unknownFields = (kind: 'wake' | 'agent', body: JsonObject) =>
  Object.keys(body)
    .filter((field) => !KNOWN[kind].has(field) && field !== 'source')
    .slice(0, MAX_LOOKED_AT)
    .map((field) => ({ field, name: oneLine(field, 80), near: nearestField(kind, field) }));

function nearestField(kind: 'wake' | 'agent', field: string): string | undefined {
  const lower = field.toLowerCase();
  const begun = [...KNOWN[kind]].find((known) => {
    const name = known.toLowerCase();
    return name.length >= 4 && (lower.startsWith(name) || (lower.length >= 4 && name.startsWith(lower)));
  });
  return MIXED_UP[kind].get(field) ?? begun ?? didYouMean(field, KNOWN[kind]);
}
