/**
 * What a sender is told of its request. Of a body of `/wake` and `/agent`, whose fields are the sender's own: code, field
 * and sentence. Of any other hook the fields are what a mapping or a transform made, so only the code is told, with a
 * fixed sentence; the rest is for those who may ask `sluice explain`.
 */
import { CONDITION_NOT_MET, HookError, type HookErrorCode, type HookErrorItem } from '../../base/errors.ts';
import { defined } from '../../base/json.ts';
import { isBuiltInRoute } from '../../engine/hook/hook.ts';

/** Of these the field is one that the sender wrote into a body of ours. */
const OWN_WARNINGS: ReadonlySet<string> = new Set([
  'blank_idempotency_key',
  'coerced_field',
  'unknown_field',
  'unknown_thinking',
  'unused_field',
]);

/** The warnings on a request that its sender may read: of a mapped one only that on the header of its own. */
export const senderWarnings = <Of extends { readonly code: string }>(
  path: string,
  found: readonly Of[],
): readonly Of[] =>
  found.filter(({ code }) =>
    isBuiltInRoute(path) ? OWN_WARNINGS.has(code) : code === 'blank_idempotency_key',
  );

/** What is said of an error that came from a mapping: what it means to the sender, and whom to ask. */
const OF_MAPPINGS: Partial<Readonly<Record<HookErrorCode, string>>> = {
  invalid_body: 'the body has not the shape that this hook reads',
  invalid_field: 'this hook makes nothing of this body; the operator finds the reason under the request id',
  mapping_requires_text: 'this hook found no text in the body',
  mapping_requires_message: 'this hook found no text in the body',
  model_not_allowed:
    'this hook makes nothing of this body; the operator finds the reason under the request id',
  unknown_channel: 'this hook makes nothing of this body; the operator finds the reason under the request id',
  invalid_recipient:
    'this hook makes nothing of this body; the operator finds the reason under the request id',
  too_many_actions: 'the request would start too much at once',
  too_much_work: 'the request asks for too much work; send less in one request',
  no_mapping_matched: 'no mapping takes this request; the operator finds the reason under the request id',
};

/** The error as its sender may read it; status and code stay. */
export function senderError(error: HookError, path: string): HookError {
  if (isBuiltInRoute(path)) return error;
  const { code, errors, retryAfterSeconds, title } = error;
  // A mapping was asked, and so takes the name.
  const isMissed = code === 'no_mapping_matched';
  const items: readonly HookErrorItem[] = isMissed ? [{ code: CONDITION_NOT_MET, message: title }] : errors;
  return new HookError(code, OF_MAPPINGS[code] ?? title, {
    errors: items.map(({ code: own = code, index }) => ({
      code: own,
      ...defined({ index }),
      message: title,
    })),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
