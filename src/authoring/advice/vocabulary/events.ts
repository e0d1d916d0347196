/* Which fields of a body name the event, and which headers say of what kind it is, whoever sends it. */
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import { isUnkept } from '../../../base/request.ts';

/** Fields that tell one event from others; an id of an account or a subscription is the same in all of them. */
const EVENT_ID =
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

/** `x-github-event`, `x-shopify-topic`, `x-event-key`, `ce-type`; a name of an id, or of the body's own form, is another thing. */
const OF_A_KIND =
  /^(?!content-|accept|sec-|upgrade)(?:[\w-]+-)?(?:events?|topic|action|trigger|resource|kind|ce-type|(?:event|message|notification|webhook|hook|request|resource)-(?:type|key|name|kind|action|state))$/;
const VALUE = /^[\w .:/-]{1,60}$/;

/** Their names, in the order of the request. */
export function kindHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    name.length <= 60 && OF_A_KIND.test(name) && VALUE.test(value) && !isUnkept(value) ? [name] : [],
  );
}
