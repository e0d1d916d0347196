import { isUnkept } from '../../../base/request.ts';

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
