import type { HookErrorCode } from '../errors.ts';

/** What an operator can change about a request that no mapping took or saw. */
const REMEDIES: Partial<Readonly<Record<HookErrorCode, string>>> = {
  method_not_allowed:
    'set the method of the sender to the one this path takes; a sender that can only send GET needs "method: GET" at the mappings of the path',
  body_too_large: 'raise that limit, or let the sender send less',
  not_found: 'correct the address in the settings of the sender',
  body_timeout: 'the sender, or a proxy before the service, must send the body within 30 seconds',
  request_aborted: 'the sender gave up: look for its own time limit, or for a proxy that closes connections',
  unsupported_encoding: 'switch compression off in the settings of the sender',
  invalid_json:
    'correct what the sender sends; a body that is no JSON needs "bodyFormat: form" (or text, xml) at the mappings of the path',
  invalid_utf8: 'the sender must send UTF-8',
  invalid_body: 'send a JSON object to wake and agent; another shape needs a mapping of its own',
  idempotency_mismatch: 'the sender must use a new Idempotency-Key for a new request',
  no_mapping_matched:
    'change the condition, or write "otherwise: skip" in a mapping of this path: it then answers 204 to requests that no mapping takes (GitLab and Shopify switch a webhook off after a few 404s)',
  stopping: 'send it again: the service was stopping',
};

/** What to change, for `sluice explain ID`; undefined where the detail says all there is to say. */
export function remedyOf(code: string | undefined): string | undefined {
  return code === undefined ? undefined : REMEDIES[code as HookErrorCode];
}
