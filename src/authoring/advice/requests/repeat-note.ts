import { quoted, say, type Sentence, type StoredFinding } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import type { RepeatFacts } from '../../../service/server/server.ts';
import { deliveryHeaders } from '../vocabulary/senders.ts';

type EventFacts = NonNullable<StoredFinding['facts']>;

/** Says what decided that this was a repeat: a header, or the id in the body. */
export function repeatFacts({ by, header, headers, ttlSeconds }: RepeatFacts): StoredFinding | undefined {
  // Such a header is never the same for two events, so this one was sent again.
  if (by === 'key' && header !== undefined && deliveryHeaders().has(header)) return undefined;
  const event = by === 'key' ? [...deliveryHeaders()].find((each) => headers[each] !== undefined) : undefined;
  return { code: 'new_event', facts: defined({ by, header, event, ttlSeconds }) };
}

/** Says by what a repeat was recognised. */
export function howRepeated({ by, header }: EventFacts): Sentence {
  if (by === 'body') return say`dedupe: body of its mapping`;
  if (by === 'key') return say`dedupe.key of its mapping`;
  const named = `the header ${String(header)}`;
  if (by === 'signed')
    return header === undefined ? say`the id that its sender signs` : say`${named}, which its sender signs`;
  if (by === 'event') return say`the id of its event in ${header === undefined ? 'the body' : named}`;
  return header === undefined ? say`the key that its sender sends` : quoted(named);
}

/** Says what to do if the request was a new event. */
export function sayNewEvent({ by, header, ttlSeconds = 0, event }: EventFacts): Sentence | undefined {
  if (by === 'signed')
    return say`the sender tried one event again, or a request that was recorded was sent again: "sluice send FILE --sign" signs it under a new id`;
  if (by === 'event')
    return say`the sender tried one event again, or a request that was recorded was sent again: on a path with recover, another id makes another event`;
  // Two equal bodies have no field that would tell the events apart.
  if (by === 'body')
    return say`if it was a new event, remove dedupe: body, as its sender sends the same text for each event, which is taken for a repeat for ${String(ttlSeconds)} s; or let the sender write an id or a time of the event into the body, then each is new`;
  // An id in the body names the event, but a header may name only the delivery.
  if (by === 'key') {
    const such = event === undefined ? 'an id of the event in the body' : `{{headers.${String(event)}}}`;
    return say`if it was a new event, choose a key that is new for each event, such as ${such}`;
  }
  return header === undefined
    ? undefined
    : say`if it was a new event, let the sender send another ${String(header)} for each event, and the same one only where it tries again (in a shell: NAME-$(date +%s))`;
}
