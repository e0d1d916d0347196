import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import { isUnkept } from '../../../base/request.ts';

/** Such fields tell one event from others. The id of an account or a subscription is the same in all events. */
const EVENT_ID =
  /^(?:id|uuid|guid)$|(?:^|[._])(?:event|message|msg|notification|delivery|transmission)[._]?(?:id|uuid)$/i;

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

/**
 * Matches `x-github-event`, `x-shopify-topic`, `x-event-key` and `ce-type`, but no id and no name for the
 * form of the body.
 */
const OF_A_KIND =
  /^(?!content-|accept|sec-|upgrade)(?:[\w-]+-)?(?:events?|topic|action|trigger|resource|kind|ce-type|(?:event|message|notification|webhook|hook|request|resource)-(?:type|key|name|kind|action|state))$/;
const VALUE = /^[\w .:/-]{1,60}$/;

/** Returns the names of such headers, in the order of the request. */
export function kindHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    name.length <= 60 && OF_A_KIND.test(name) && VALUE.test(value) && !isUnkept(value) ? [name] : [],
  );
}
