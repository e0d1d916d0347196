/** Which headers say what kind of event a request tells of, whoever sends it. */

/** `x-github-event`, `x-shopify-topic`, `x-event-key`, `ce-type`; a name of an id, or of the body's own form, is another thing. */
const OF_A_KIND =
  /^(?!content-|accept|sec-|upgrade)(?:[\w-]+-)?(?:events?|topic|action|trigger|resource|kind|ce-type|(?:event|message|notification|webhook|hook|request|resource)-(?:type|key|name|kind|action|state))$/;
const VALUE = /^[\w .:/-]{1,60}$/;

/** Their names, in the order of the request. */
export function kindHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    name.length <= 60 && OF_A_KIND.test(name) && VALUE.test(value) && value !== '[removed]' ? [name] : [],
  );
}
