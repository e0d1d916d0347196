import { say, todo, type Sentence } from '../../../base/finding.ts';
import type { HookErrorCode } from '../../../base/errors.ts';

const LATER = say`nothing was accepted, and most senders send again by themselves`;

/** What an operator can change where no mapping had matched yet. */
const BEFORE_MAPPINGS = {
  method_not_allowed: say`set the method of the sender to the one this path takes`,
  body_too_large: say`raise that limit, or let the sender send less`,
  not_found: say`correct the address in the settings of the sender`,
  headers_timeout: say`the sender, or a proxy before the service, must send the headers within 10 seconds; no key changes this limit`,
  body_timeout: say`the sender, or a proxy before the service, must send the whole request within 30 seconds; no key changes this limit`,
  headers_too_large: say`let the sender, or a proxy before the service, send fewer or shorter headers (cookies, for example), and data in the body instead of the address; no key changes this limit`,
  malformed_request: say`look at what sends it: a client that writes HTTP by hand, a proxy, or a program that speaks another protocol to this port; "curl -v" with the same address shows a request that is well formed`,
  unknown_transfer_coding: say`let the sender send the body as it is, with Content-Length or with "Transfer-Encoding: chunked"; compression belongs in Content-Encoding`,
  request_aborted: say`the sender gave up: ${todo}look for its own time limit, or for a proxy that closes connections`,
  unsupported_encoding: say`switch compression off in the settings of the sender`,
  invalid_json: say`correct what the sender sends; a body that is no JSON needs "bodyFormat: form" (or text, xml) at the mappings of the path`,
  invalid_utf8: say`the sender must send UTF-8`,
  invalid_body: say`send a JSON object to wake and agent; another shape needs a mapping of its own`,
  idempotency_mismatch: say`the sender must use a new Idempotency-Key for a new request`,
  no_mapping_matched: say`change the condition that did not hold`,
  rate_limited: say`let the sender send less often, or raise rate of the mapping`,
  too_many_failures: say`correct the token or the signature of the sender: the requests before this one say what is wrong with it; hooks.authFailuresPerMinute sets the limit`,
  storage_unavailable: say`"sluice doctor" says what is wrong with the store; ${LATER}`,
  bodies_full: say`bodies whose senders had proved nothing yet took up 64 MB together, and the oldest had to go: if nobody attacks, let fewer come at once, or set a lower maxBodyBytes; ${LATER}`,
  backlog_full: say`"sluice queue" says what waits and for whom; raise the limit only where that is meant to wait; ${LATER}`,
  events_full: say`"sluice queue" says what waits; ${LATER}`,
  internal: say`this is a fault of the service: its log has a line with this id and the place in the code`,
  stopping: say`send it again: the service was stopping`,
} as const satisfies Partial<Record<HookErrorCode, Sentence>>;

/** What an operator can change where a mapping, or the body of wake and agent, made something of the request. */
const BY_MAPPING = {
  mapping_requires_message: say`give the mapping a messageTemplate whose values are in the payload, or a transform`,
  mapping_requires_text: say`give the mapping a textTemplate whose values are in the payload, or a transform`,
  missing_message: say`send {"message": "…"}`,
  missing_text: say`send {"text": "…"}`,
  model_not_allowed: say`use a model of agents.defaults.models, or add this one to the list`,
  unknown_channel: say`use one of the channels named, or load the plugin that brings this one`,
  invalid_recipient: say`write "to" as the channel takes it; docs/channels.md has a line for each`,
  too_many_actions: say`send fewer elements at once`,
  too_much_work: say`send fewer or shorter elements, print less of what repeats (truncate), or raise the limit named above`,
  transform_failed: say`correct the transform: it gets one argument, ({ payload, headers, query, path }), and returns { message: … }, a list of such, or null; then run this request through it with sluice replay`,
  transform_unavailable: say`the sender should try again; sluice transform run shows what the module does`,
  mapping_failed: say`correct the mapping at the place shown`,
  not_configured: say`correct what "sluice check" finds in this mapping`,
} as const satisfies Partial<Record<HookErrorCode, Sentence>>;

const OF_MAPPING: Partial<Readonly<Record<HookErrorCode, Sentence>>> = BY_MAPPING;
const OF_ANY: Partial<Readonly<Record<HookErrorCode, Sentence>>> = { ...BEFORE_MAPPINGS, ...BY_MAPPING };

/**
 * Says what to change; undefined where the detail says all there is to say. `isMapped` means that a mapping was chosen.
 */
export function remedyOf(code: string | undefined, isMapped: boolean): Sentence | undefined {
  return code === undefined ? undefined : (isMapped ? OF_MAPPING : OF_ANY)[code as HookErrorCode];
}

/** The mapping stays as it is written, because the transform returned undefined. */
export const RETURNED_NOTHING = say`it returned nothing (a bare return gives nothing, too), so the mapping stays as it is written, and what it changed in payload does not reach the templates: ${todo}return { message: … } sets the text, return null skips the request; an arrow function needs ( ) around the object: => ({ message: … })`;

const CONSEQUENCES: Readonly<Record<string, Sentence>> = {
  sessionKey: say`a part of sessionKey is empty: all such requests have one key, and so share one conversation`,
  'dedupe.key': say`a part of dedupe.key is empty: requests that differ only there count as repeats`,
  'debounce.key': say`a part of debounce.key is empty: requests that differ only there become one run`,
  'maxRuns.key': say`a part of maxRuns.key is empty: runs that differ only there wait for each other`,
};

/** Says what follows where something in this key of a mapping rendered empty; undefined where nothing does. */
export function consequenceOf(field: string): Sentence | undefined {
  return Object.hasOwn(CONSEQUENCES, field) ? CONSEQUENCES[field] : undefined;
}
