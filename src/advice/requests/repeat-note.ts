import type { RepeatFacts } from '../../server/server.ts';
import { hasEventId } from '../vocabulary/events.ts';
import { deliveryHeaders } from '../vocabulary/senders.ts';

/** What to do where a request that was taken for a repeat was a new event. */
export function repeatNote(repeat: RepeatFacts): string | undefined {
  const { by, header: name, ttlSeconds = 0 } = repeat;
  switch (by) {
    case 'signed':
      return 'the sender tried one event again, or a request that was recorded was sent again: "sluice send FILE --sign" signs it under a new id';
    case 'body':
      // Two bodies that are the same have no field that would tell the events apart.
      return `if it was a new event, remove dedupe: body, as its sender sends the same text for each event, which is taken for a repeat for ${ttlSeconds} s; or let the sender write an id or a time of the event into the body, then each is new`;
    case 'key':
      // Such a header is never the same for two events: somebody or something sent this one again.
      if (name !== undefined && deliveryHeaders().has(name)) return undefined;
      return `if it was a new event, choose a key that is new for each event${keyOf(repeat)}`;
    case 'sender':
      return name === undefined
        ? undefined
        : `if it was a new event, let the sender send another ${name} for each event, and the same one only where it tries again (in a shell: NAME-$(date +%s))`;
  }
}

/** An id in the body names the event, and a header may name the delivery alone; the key is for explain to write. */
function keyOf({ headers, payload }: RepeatFacts): string {
  if (payload !== undefined && hasEventId(payload))
    return ', such as an id of the body: "sluice explain" of this request writes it';
  const header = [...deliveryHeaders()].find((each) => headers[each] !== undefined);
  return header === undefined ? '' : `, such as {{headers.${header}}}`;
}
