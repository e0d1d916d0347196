/** Which fields of a body name the event: what tells one from others, whoever asks. */
import { isJsonObject, type JsonValue } from '../json.ts';

/** Fields that tell one event from others; an id of an account or a subscription is the same in all of them. */
export const EVENT_ID =
  /^(?:id|uuid|guid)$|(?:^|[._])(?:event|message|msg|notification|delivery|transmission)[._]?(?:id|uuid)$/i;

/** Objects in each other that are looked into. */
const MAX_DEPTH = 3;
const MAX_KEYS = 200;

/** Whether a body has such a field. */
export function hasEventId(body: JsonValue, path = '', depth = 0): boolean {
  if (!isJsonObject(body) || depth === MAX_DEPTH) return false;
  return Object.entries(body)
    .slice(0, MAX_KEYS)
    .some(([key, value]) => {
      const own = path === '' ? key : `${path}.${key}`;
      const isValue = typeof value === 'string' || typeof value === 'number';
      return isValue
        ? own.length <= MAX_KEYS && EVENT_ID.test(own)
        : hasEventId(value ?? null, own, depth + 1);
    });
}
