import { hash } from 'node:crypto';
import type { Action, ActionOrigin, DedupeKey } from '../action.ts';
import { oneLine, sealAgentAction, type PreparedAgentAction } from '../boundary/boundary.ts';
import type { CompiledMapping, Scope } from '../mapping/mapping.ts';
import type { HookRequest } from '../request.ts';
import type { Course } from './course.ts';
import { isObject, type Draft } from './draft.ts';
import * as field from './fields.ts';
import { deriveActionId } from './ids.ts';

/** A draft to an action: validation, then the boundary. `part` counts the actions one transform made of one scope. */
export function finish(course: Course, draft: Draft, scope: Scope, index: number, part = 0): Action {
  const { request, mapping } = course;
  const { fields } = draft;
  const origin = originOf(request, mapping);
  const dedupe = dedupeKey(course, scope, part);
  const id = deriveActionId(request, index);
  if (draft.kind === 'wake') {
    const text = field.requiredText(fields, 'text', mapping ? 'mapping_requires_text' : 'missing_text');
    const mode = field.wakeMode(fields, 'mode', course);
    return { kind: 'wake', id, text, mode, ...(dedupe === undefined ? {} : { dedupe }), origin };
  }
  const prepared = prepareAgent(course, draft, { id, origin });
  const instructions = mapping?.instructions;
  return sealAgentAction(dedupe === undefined ? prepared : { ...prepared, dedupe }, {
    ...(instructions === undefined ? {} : { instructions }),
    nonce: request.nonce,
  });
}

/** Fields in the order in which their failures count: message, channel, model, then the others. */
function prepareAgent(
  course: Course,
  { fields }: Draft,
  { id, origin }: { readonly id: string; readonly origin: ActionOrigin },
): PreparedAgentAction {
  const { mapping } = course;
  const missing = mapping ? 'mapping_requires_message' : 'missing_message';
  const message = field.requiredText(fields, 'message', missing);
  const channel = field.channel(fields, course);
  const model = field.model(fields, course);
  const wakeMode = field.wakeMode(fields, 'wakeMode', course);
  const name = field.hookName(fields, course);
  const chosenKey =
    field.sessionKey(fields, mapping ? 'operator' : 'request', course) ?? course.rules.sessionKeys.default;
  const deliver = field.deliver(fields, course);
  const to = field.recipient(fields, channel, course);
  const thinking = field.thinking(fields, course);
  const timeoutSeconds = field.timeoutSeconds(fields, course);
  return {
    id,
    message,
    name,
    sessionKey: chosenKey ?? `hook:${id}`,
    oneShot: chosenKey === undefined,
    wakeMode,
    deliver,
    channel,
    ...(to === undefined ? {} : { to }),
    ...(model === undefined ? {} : { model }),
    ...(thinking === undefined ? {} : { thinking }),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(mapping === undefined ? {} : operatorSettings(mapping)),
    origin,
  };
}

function operatorSettings(mapping: CompiledMapping): Partial<PreparedAgentAction> {
  const { runner, fallback, callbackUrl } = mapping;
  return {
    ...(runner === undefined ? {} : { runner }),
    ...(fallback === undefined ? {} : { fallback }),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
  };
}

function originOf(request: HookRequest, mapping: CompiledMapping | undefined): ActionOrigin {
  const { payload } = request;
  const own = isObject(payload) && Object.hasOwn(payload, 'source') ? payload['source'] : undefined;
  const source = typeof own === 'string' ? oneLine(own, 200) : '';
  return {
    requestId: request.id,
    path: request.path,
    ...(mapping === undefined ? {} : { mappingId: mapping.id }),
    ...(source === '' ? {} : { source }),
    trusted: mapping?.allowUnsafeExternalContent ?? false,
  };
}

/** Longest key kept as it is; a longer one is kept as its SHA-256. */
const MAX_DEDUPE_CHARS = 256;

function dedupeKey(course: Course, scope: Scope, part: number): DedupeKey | undefined {
  const { mapping, request } = course;
  const rule = mapping?.dedupe;
  if (mapping === undefined || rule === undefined) return undefined;
  const rendered =
    rule.key === 'body'
      ? hash('sha256', JSON.stringify(scope.index === undefined ? request.payload : scope.item))
      : course.render('dedupe.key', rule.key, scope).trim();
  if (rendered === '') {
    const message = 'the dedupe key was blank, so a repeat of this request is not recognised';
    field.warn(course.warnings, { code: 'blank_dedupe_key', field: 'dedupe.key', message });
    return undefined;
  }
  const short = rendered.length > MAX_DEDUPE_CHARS ? hash('sha256', rendered) : rendered;
  // Several actions made of one scope are not repeats of each other.
  return { scope: mapping.id, key: part === 0 ? short : `${short}#${part}`, ttlSeconds: rule.ttlSeconds };
}
