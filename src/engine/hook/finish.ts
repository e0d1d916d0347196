import { hash } from 'node:crypto';
import type {
  Action,
  ActionOrigin,
  ConversationOwner,
  DedupeKey,
  NotifyAction,
  WakeAction,
} from '../../base/action.ts';
import { oneLine, sealAgentAction, type PreparedAgentAction } from '../../base/boundary/boundary.ts';
import type {
  CompiledMapping,
  CompiledTemplate,
  DedupeSettings,
  ActionFilling,
  Scope,
} from '../mapping/mapping.ts';
import { defined, isJsonObject } from '../../base/json.ts';
import type { HookRequest } from '../../base/request.ts';
import type { EvaluationState } from './evaluation-state.ts';
import type { Draft } from './draft.ts';
import * as field from './action-fields.ts';
import { accountsIn, isAutomatic } from './skip-rules.ts';
import { foundInPlace } from './unknown-fields.ts';
import type { HookFacts } from './evaluation.ts';
import { deriveActionId } from './ids.ts';

/** What a character costs on its way through the boundary, which reads it several times. */
const STEPS_PER_CHARACTER = 4;

/** A draft to an action: validation, then the boundary. `part` counts the actions one transform made of one scope. */
export function finish(
  state: EvaluationState,
  draft: Draft,
  scope: Scope,
  { index, part }: { readonly index: number; readonly part: number },
): Action {
  const origin = originOf(state.request, state.mapping, scope);
  const dedupe = dedupeKey(state, scope, part);
  const id = deriveActionId(state.request, index);
  if (draft.kind === 'agent') return finishAgent(state, draft, scope, { id, origin, dedupe });
  const made =
    draft.kind === 'wake'
      ? prepareWake(state, draft, id, origin)
      : prepareNotification(state, draft, scope, { id, origin });
  const action = state.startedBy === undefined ? made : { ...made, startedBy: state.startedBy };
  state.work.store(action.kind === 'wake' ? action.text : action.message);
  return dedupe === undefined ? action : { ...action, dedupe };
}

function prepareWake(
  state: EvaluationState,
  { fields }: Draft,
  id: string,
  origin: ActionOrigin,
): WakeAction {
  const missing = state.mapping ? 'mapping_requires_text' : 'missing_text';
  const text = field.requiredText(fields, 'text', missing, foundInPlace);
  const mode = field.wakeMode(fields, 'mode', state);
  if (state.settings.behaviours.wakesAgent) field.agentRunner(fields, state.mapping, state);
  return { kind: 'wake', id, text, mode, origin };
}

function finishAgent(
  state: EvaluationState,
  draft: Draft,
  scope: Scope,
  made: { readonly id: string; readonly origin: ActionOrigin; readonly dedupe: DedupeKey | undefined },
): Action {
  const prepared = prepareAgent(state, draft, made);
  const instructions = state.mapping?.instructions;
  state.work.pass(prepared.message.length * STEPS_PER_CHARACTER);
  if (made.dedupe !== undefined) prepared.dedupe = made.dedupe;
  fill(prepared, state, scope);
  const { conversation } = prepared;
  if (conversation !== undefined) {
    const { marks, isOwn } = state.marks;
    const keys = (draft.keys ?? []).flatMap((key) => oneLine(shortKey(key.trim()), MAX_KEY_CHARS) || []);
    prepared.conversation = {
      ...conversation,
      ...(keys.length > 0 && { keys: [...(conversation.keys ?? []), ...keys] }),
      ...(marks.length > 0 && { marks }),
      ...(isOwn && { isOwn, start: false }),
    };
  }
  if (state.startedBy !== undefined) prepared.startedBy = state.startedBy;
  else if (state.mapping?.startedBy?.asksOthers === true) delete prepared.approve;
  const { nonce } = state.request;
  const action = sealAgentAction(prepared, { instructions, nonce, texts: state.neutralised });
  state.work.store(action.prompt, action.message);
  return action;
}

/** A message to people: nothing in it is read by an agent, so it has no boundary; channels take it as plain text. */
function prepareNotification(
  state: EvaluationState,
  { fields }: Draft,
  scope: Scope,
  { id, origin }: Pick<NotifyAction, 'id' | 'origin'>,
): NotifyAction {
  const { mapping } = state;
  const message = field.requiredText(fields, 'message', 'mapping_requires_message');
  const channel = field.channel(fields, state);
  const to = field.recipient(fields, channel, state);
  const sessionKey = `hook:${id}`;
  const summary = mapping?.summary ?? state.settings.defaults.summary;
  const action: NotifyAction = {
    kind: 'notify',
    id,
    message,
    name: field.hookName(fields, state),
    sessionKey,
    owner: ownerOf(state, sessionKey),
    // A turn of the main session costs something: one that nobody asked for waits for the next.
    wakeMode: field.wakeMode({ wakeMode: 'next-heartbeat', ...fields }, 'wakeMode', state),
    summary: summary === 'never' ? 'never' : 'failures',
    channel,
    ...(to === undefined ? {} : { to }),
    origin,
  };
  fill(action, state, scope);
  return action;
}

/** Fields in the order in which their failures count: message, channel, model, then the others. */
function prepareAgent(
  state: EvaluationState,
  draft: Draft,
  { id, origin }: { readonly id: string; readonly origin: ActionOrigin },
): Writable<PreparedAgentAction> {
  const { fields } = draft;
  const { mapping } = state;
  const missing = mapping ? 'mapping_requires_message' : 'missing_message';
  const message = field.requiredText(fields, 'message', missing, foundInPlace);
  const channel = field.channel(fields, state);
  const standard = Object.hasOwn(state.settings.runDefaults, origin.path)
    ? state.settings.runDefaults[origin.path]
    : undefined;
  const model = field.model(fields, state) ?? standard?.model;
  const wakeMode = field.wakeMode(fields, 'wakeMode', state);
  const name = field.hookName(fields, state);
  const { behaviours, sessionKeys } = state.settings;
  const writtenKey = field.sessionKey(fields, keyChooser(draft, mapping), state);
  const chosenKey = writtenKey ?? sessionKeys.default;
  const deliver = field.deliver(fields, state);
  const summary = mapping?.summary ?? state.settings.defaults.summary;
  const to = field.recipient(fields, channel, state);
  const thinking = field.thinking(fields, state) ?? standard?.thinking;
  const timeoutSeconds = field.timeoutSeconds(fields, state);
  const runner = field.agentRunner(fields, mapping, state);
  const sessionKey = chosenKey ?? `hook:${id}`;
  const owner = ownerOf(state, sessionKey);
  if (chosenKey !== undefined && mapping?.hasOwnId === false && owner === mapping.owner) {
    warnOfGeneratedId(state, mapping);
  }
  const hasKey = (behaviours.hasGatewaySessionKeys ? writtenKey : chosenKey) !== undefined;
  const oneShot = !hasKey && mapping?.conversation === undefined;
  const action: Writable<PreparedAgentAction> = {
    id,
    message,
    name,
    sessionKey,
    owner,
    oneShot,
    wakeMode,
    deliver,
    channel,
    origin,
  };
  const { afterCrash } = state.settings.defaults;
  if (summary !== 'always') action.summary = summary;
  if (mapping?.retry !== undefined || afterCrash !== undefined)
    action.retry = { ...defined({ afterCrash }), ...mapping?.retry };
  if (to !== undefined) action.to = to;
  if (model !== undefined) action.model = model;
  if (thinking !== undefined) action.thinking = thinking;
  if (timeoutSeconds !== undefined) action.timeoutSeconds = timeoutSeconds;
  if (runner !== undefined) action.runner = runner;
  return action;
}

function keyChooser({ fields, isKeyOwn }: Draft, mapping: CompiledMapping | undefined): field.KeyChooser {
  if (mapping === undefined) return 'request';
  const isWritten =
    !mapping.behaviours.hasGatewaySessionKeys || mapping.sessionKey?.literal?.trim() === fields.sessionKey;
  return isWritten || isKeyOwn === true ? 'operator' : 'payload';
}

/** An action that is being put together: one spread for each field that may be absent would take longer than all. */
type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A conversation belongs to the mapping that writes into it, or to the senders of `/agent` bodies, or to nobody. */
function ownerOf({ mapping, settings }: EvaluationState, sessionKey: string): ConversationOwner {
  if (mapping?.owner.startsWith('owner:')) return mapping.owner;
  if (settings.sessionKeys.shared.some((prefix) => sessionKey.startsWith(prefix))) return 'shared';
  return mapping === undefined ? 'request' : mapping.owner;
}

/** A key of a transform or of the configuration cannot be seen by `check`, as one of the mapping itself is. */
function warnOfGeneratedId({ warnings }: EvaluationState, { id, owner }: CompiledMapping): void {
  if (owner === 'mappings') return;
  field.warn(warnings, {
    code: 'generated_mapping_id',
    field: 'sessionKey',
    message: `the conversation belongs to ${id}, an id made from the position of the mapping`,
    facts: { id } satisfies HookFacts['generated_mapping_id'],
  });
}

function originOf(request: HookRequest, mapping: CompiledMapping | undefined, { item }: Scope): ActionOrigin {
  const { payload } = request;
  const own = isJsonObject(payload) && Object.hasOwn(payload, 'source') ? payload['source'] : undefined;
  const source = typeof own === 'string' ? oneLine(own, 200) : '';
  const trusted = mapping?.allowUnsafeExternalContent ?? false;
  const origin: Writable<ActionOrigin> = { requestId: request.id, path: request.path, trusted };
  const traceparent = traceOf(request);
  if (mapping !== undefined) origin.mappingId = mapping.id;
  if (source !== '') origin.source = source;
  if (traceparent !== undefined) origin.traceparent = traceparent;
  if (isAutomatic(item === undefined ? payload : { messages: [item] })) origin.isAutomatic = true;
  return origin;
}

/** W3C Trace Context, section 3.2: any version's first four parts; ids of zeros alone are none. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

function traceOf({ headers }: HookRequest): string | undefined {
  const traceparent = headers['traceparent']?.trim();
  return traceparent !== undefined && TRACEPARENT.test(traceparent) ? traceparent : undefined;
}

/** Longest key that is kept as it is; a longer one is kept as its SHA-256. */
const MAX_KEY_CHARS = 256;

function shortKey(key: string): string {
  return key.length > MAX_KEY_CHARS ? hash('sha256', key) : key;
}

function renderDedupeKey(state: EvaluationState, key: DedupeSettings['key'], scope: Scope): string {
  if (key !== 'body') return state.render('dedupe.key', key, scope);
  if (scope.index === undefined) return state.request.bodySha256;
  const json = JSON.stringify(scope.item);
  state.work.spend(json.length);
  return hash('sha256', json);
}

function dedupeKey(state: EvaluationState, scope: Scope, part: number): DedupeKey | undefined {
  const { mapping } = state;
  const rule = mapping?.dedupe;
  if (mapping === undefined || rule === undefined) return undefined;
  const rendered = (state.dedupeKeys.get(scope) ?? renderDedupeKey(state, rule.key, scope)).trim();
  const [first] = state.dedupeKeys.values();
  if (first === rendered && rendered !== '' && !state.dedupeKeys.has(scope)) warnOfSameKey(state, rule.key);
  // A transform may make many actions of one scope.
  state.dedupeKeys.set(scope, rendered);
  if (rendered === '') {
    const message = 'the dedupe key was blank, so a repeat of this request is not recognised';
    field.warn(state.warnings, { code: 'blank_dedupe_key', field: 'dedupe.key', message });
    return undefined;
  }
  const short = shortKey(rendered);
  // Several actions made of one scope are not repeats of each other.
  return { scope: mapping.id, key: part === 0 ? short : `${short}#${part}`, ttlSeconds: rule.ttlSeconds };
}

/** Warns of a key that reads nothing of the element: all elements but the first would be repeats. */
function warnOfSameKey({ warnings }: EvaluationState, key: DedupeSettings['key']): void {
  if (key === 'body' || /\b(?:item|index)\b/.test(key.source)) return;
  const facts: HookFacts['same_dedupe_key'] = { key: key.source };
  const message =
    'the dedupe key is the same for each element of forEach, so those after the first count as repeats of it and make nothing';
  field.warn(warnings, { code: 'same_dedupe_key', field: 'dedupe.key', message, facts });
}

/** Fills the fields that only the mapping decides: its keys say how. */
function fill(action: PreparedAgentAction | NotifyAction, state: EvaluationState, scope: Scope): void {
  const { mapping, request, warnings } = state;
  if (mapping === undefined || mapping.fills.length === 0) return;
  // Set one by one: an object for each field that is copied would take longer than all.
  const fields = action as object as Record<string, unknown>;
  const text = (name: string, template: CompiledTemplate): string => renderKey(state, name, template, scope);
  const at: ActionFilling = {
    mapping,
    request,
    text,
    nameOf: (name, template, blank) => {
      const key = text(name, template);
      if (key !== '') return shortKey(key);
      if (blank !== undefined) field.warn(warnings, { ...blank, field: name });
      return undefined;
    },
    account: () => {
      const [sender] = accountsIn(request.payload, mapping);
      return sender && oneLine(sender.account, MAX_KEY_CHARS);
    },
  };
  for (const { key, isOfNotify, make } of mapping.fills) {
    if (!isOfNotify && 'kind' in action) continue;
    const value = make(at);
    if (value !== undefined) fields[key] = value;
  }
}

/** A key of the mapping, made once for each scope. */
function renderKey(state: EvaluationState, name: string, template: CompiledTemplate, scope: Scope): string {
  const known = state.keys.get(scope) ?? new Map<string, string>();
  const key = known.get(name) ?? state.render(name, template, scope).trim();
  state.keys.set(scope, known.set(name, key));
  return key;
}
