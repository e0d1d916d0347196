import type { SchemaAdvice } from '../schema-words.ts';
import { isJsonObject } from '../../json.ts';
import { challengeFor } from './address-checks.ts';

const GENERAL =
  'write who asks: challenge: slack, or meta, graph, zoom, cloudevents; or what is sent back, as in challenge: {echo: body.challenge}';

/** `challenge: true` and `challenge: dropbox`: here it is the name of who asks, or what is sent back. */
export function meantChallenge(value: unknown): ReturnType<NonNullable<SchemaAdvice['value']>> {
  const who = isJsonObject(value) ? value['kind'] : value;
  const line = typeof who === 'string' ? challengeFor(who) : undefined;
  if (line !== undefined) return { hint: `write ${line}` };
  const isShaped = isJsonObject(value) && (who !== undefined || value['echo'] !== undefined);
  return isShaped ? undefined : { hint: GENERAL };
}
