import { hash } from 'node:crypto';
import { isPrintable, oneLine } from '../../base/boundary/boundary.ts';
import {
  channelIdOf,
  DEFAULT_HOOK_NAME,
  LAST_CHANNEL,
  namesMainSession,
  THINKING_LEVELS,
  thinkingLevel,
  WAKE_MODES,
  type WakeMode,
} from '../../base/action.ts';
import { errorFinding, HookError, type HookErrorCode } from '../../base/errors.ts';
import { type Finding, quoted, type RequestFindingJson } from '../../base/finding.ts';
import { defined, ExactNumber, isNumeric, type JsonValue } from '../../base/json.ts';
import type { EvaluationSettings } from './evaluation.ts';

/** What a field of a transform's result has to be. */
const TYPES = {
  'a string': (value: JsonValue) => typeof value === 'string',
  'a string or a number': (value: JsonValue) => typeof value === 'string' || typeof value === 'number',
  'true or false': (value: JsonValue) => typeof value === 'boolean',
  'now or next-heartbeat': (value: JsonValue) => value === 'now' || value === 'next-heartbeat',
  'a number of seconds above 0': (value: JsonValue) =>
    typeof value === 'number' && Number.isFinite(value) && value > 0,
};

const OF_WAKE = { text: 'a string', mode: 'now or next-heartbeat' } as const;
const OF_AGENT = {
  message: 'a string',
  name: 'a string',
  sessionKey: 'a string',
  wakeMode: 'now or next-heartbeat',
  deliver: 'true or false',
  channel: 'a string',
  to: 'a string or a number',
  model: 'a string',
  thinking: 'a string',
  timeoutSeconds: 'a number of seconds above 0',
  agentId: 'a string',
} as const;

const EXPECTED = { ...OF_WAKE, ...OF_AGENT };

export type Field = keyof typeof EXPECTED;
/** The fields of a wake and of an agent action, as request bodies, transforms and mappings name them. */
export const WAKE_FIELDS = Object.keys(OF_WAKE) as readonly (keyof typeof OF_WAKE)[];
export const AGENT_FIELDS = Object.keys(OF_AGENT) as readonly (keyof typeof OF_AGENT)[];

/** What is wrong with the type of a field in a transform's result, or undefined. */
export function typeProblem(field: Field, value: JsonValue): string | undefined {
  const expected = EXPECTED[field];
  return TYPES[expected](value) ? undefined : `must be ${expected}, found ${kindOf(value)}`;
}

/** Fields of an action before any rule was applied to them. */
export type RawFields = Readonly<Partial<Record<Field, JsonValue>>>;

/** Longest session key, recipient and model name, in UTF-16 units. */
const MAX_KEY_CHARS = 256;
const MAX_NAME_CHARS = 500;
const MAX_WARNINGS = 16;
const MAX_FIELD_CHARS = 80;

export interface FieldContext {
  readonly settings: EvaluationSettings;
  readonly warnings: Finding[];
}

/** Adds a warning unless it says what another one says already, or there are 16. */
export function warn(
  warnings: Finding[],
  { code, field, message, facts }: Pick<Finding, 'code' | 'facts'> & Omit<RequestFindingJson, 'code'>,
): void {
  if (warnings.length >= MAX_WARNINGS) return;
  const subject = field === undefined ? undefined : { field: oneLine(field, MAX_FIELD_CHARS) };
  if (warnings.some((known) => known.code === code && known.subject?.field === subject?.field)) return;
  const about = defined({ subject, facts });
  warnings.push({ severity: 'warning', audience: 'sender', code, message: quoted(message), ...about });
}

/** Makes the 400 that names a field; the detail says what kind of thing was found, never its value. */
export function fieldError(field: string, message: string, code: HookErrorCode = 'invalid_field'): HookError {
  return new HookError(code, message, { errors: [errorFinding(code, message, { field })] });
}

/** A field that must be a string with something in it, trimmed. */
export function requiredText(
  values: RawFields,
  field: 'text' | 'message',
  missing: HookErrorCode,
  inPlace: (field: 'text' | 'message', values: RawFields) => string = () => '',
): string {
  const value = values[field];
  if (value === undefined || value === null) {
    throw fieldError(field, `${field} is required and was not given${inPlace(field, values)}`, missing);
  }
  if (typeof value !== 'string') {
    throw fieldError(field, `${field} must be a string, found ${kindOf(value)}`);
  }
  const text = value.trim();
  if (text === '') throw fieldError(field, `${field} is required and was blank`, missing);
  return text;
}

/** A field that may be a string; blank, null and absent are the same. */
function optionalText(values: RawFields, field: Field, at: FieldContext): string | undefined {
  const value = values[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') return refuse(at, field, 'a string', value);
  const text = value.trim();
  return text === '' ? undefined : text;
}

/** `mode` of a wake: `now` unless it says otherwise; `wakeMode` of a run: as `hooks.defaults` has it. */
export function wakeMode(values: RawFields, field: 'mode' | 'wakeMode', at: FieldContext): WakeMode {
  const value = values[field];
  const standard = field === 'mode' ? 'now' : at.settings.defaults.wakeMode;
  if (value === undefined || value === null) return standard;
  if (value === 'now' || value === 'next-heartbeat') return value;
  refuse(at, field, WAKE_MODES.join(' or '), value, standard);
  return standard;
}

export function deliver(values: RawFields, at: FieldContext): boolean {
  const value = values.deliver;
  const standard = at.settings.defaults.deliver;
  if (value === undefined || value === null) return standard;
  if (typeof value === 'boolean') return value;
  refuse(at, 'deliver', 'true or false', value, standard ? 'true' : 'false');
  return standard;
}

/** `last` or the id of a known channel, aliases resolved. */
export function channel(values: RawFields, at: FieldContext): string {
  const given = optionalText(values, 'channel', at)?.toLowerCase();
  if (given === undefined || given === LAST_CHANNEL) return LAST_CHANNEL;
  const { channels } = at.settings;
  const id = channelIdOf(given);
  if (channels === 'any' || channels.has(id)) return id;
  const known = [LAST_CHANNEL, ...channels].join(', ');
  throw fieldError('channel', `channel is not a known one; expected one of ${known}`, 'unknown_channel');
}

/** The recipient on a channel; numbers are taken as text, as chat ids often are. */
export function recipient(values: RawFields, channelId: string, at: FieldContext): string | undefined {
  const value = values.to;
  const to = isNumeric(value) ? numberAsText(value) : printable('to', optionalText(values, 'to', at));
  if (to === undefined || channelId === LAST_CHANNEL) return to;
  const problem = at.settings.recipientProblem?.(channelId, to);
  if (problem === undefined) return to;
  throw new HookError('invalid_recipient', `to does not fit the channel ${channelId}`, {
    errors: [errorFinding('invalid_recipient', problem, { field: 'to' })],
  });
}

/** The digits of a whole number. A request's own digits are kept; a transform's number beyond 2^53 has lost some. */
function numberAsText(value: number | ExactNumber): string {
  const text = String(value);
  const isWhole = value instanceof ExactNumber ? /^-?\d+$/.test(text) : Number.isSafeInteger(value);
  if (isWhole) return printable('to', text)!;
  throw fieldError(
    'to',
    'to must be a string or a whole number; send a longer number in quotes, because it would lose digits',
  );
}

/** A model by its full name, aliases resolved; present but blank is an error, as the sender meant something. */
export function model(values: RawFields, at: FieldContext): string | undefined {
  const value = values.model;
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value.trim() === '') {
    const found = typeof value === 'string' ? 'a blank one' : kindOf(value);
    throw fieldError('model', `model must be a string with the name of a model, found ${found}`);
  }
  const name = printable('model', value.trim())!;
  const { aliases, models } = at.settings.agents;
  const full = Object.hasOwn(aliases, name) ? aliases[name]! : name;
  if (models === undefined || models.includes(full)) return full;
  const remedy =
    models.length === 0 ? 'no override is allowed: leave model out' : `expected one of ${models.join(', ')}`;
  throw fieldError('model', `model is not in agents.defaults.models; ${remedy}`, 'model_not_allowed');
}

/** A thinking level; an unknown one falls back to the runner's own, with a warning. */
export function thinking(values: RawFields, at: FieldContext): string | undefined {
  const given = optionalText(values, 'thinking', at);
  if (given === undefined) return undefined;
  const level = thinkingLevel(given);
  if (level !== undefined) return level;
  warn(at.warnings, {
    code: 'unknown_thinking',
    field: 'thinking',
    message: `thinking is not a known level, so the default is used; the levels are ${THINKING_LEVELS.slice(0, -1).join(', ')} or ${THINKING_LEVELS.at(-1)}`,
  });
  return undefined;
}

export function timeoutSeconds(values: RawFields, at: FieldContext): number | undefined {
  const given = values.timeoutSeconds;
  if (given === undefined || given === null) return undefined;
  const value = given instanceof ExactNumber ? given.valueOf() : given;
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
  return refuse(at, 'timeoutSeconds', 'a number of seconds above 0', value);
}

export function hookName(values: RawFields, at: FieldContext): string {
  const name = optionalText(values, 'name', at);
  return (name === undefined ? '' : oneLine(name, MAX_NAME_CHARS)) || DEFAULT_HOOK_NAME;
}

/**
 * Who chose a session key: a request body is checked more strictly than an operator's mapping or transform. `payload`: a mapping
 * or transform of an OpenClaw file that made it of what came in.
 */
export type KeyChooser = 'request' | 'payload' | 'operator';

/**
 * A session key as given, or undefined. Hooks have a namespace of their own: the main session's names (`main`, and
 * everything that starts with `agent:` or `main:`) are refused; lenient settings put `hook:` before them instead.
 */
export function sessionKey(values: RawFields, chooser: KeyChooser, at: FieldContext): string | undefined {
  const given = optionalText(values, 'sessionKey', at);
  if (given === undefined) return undefined;
  const { allowFromRequest, allowedPrefixes } = at.settings.sessionKeys;
  const { hasGatewaySessionKeys = false } = at.settings.behaviours;
  if (chooser === 'request' && !allowFromRequest) {
    throw fieldError('sessionKey', 'sessionKey cannot be chosen by a request here: leave it out');
  }
  if (chooser === 'payload' && !allowFromRequest) throw fieldError('sessionKey', PAYLOAD_KEY_PROBLEM);
  const written = hasGatewaySessionKeys && chooser !== 'request' ? shortSessionKey(given) : given;
  const key = inHookNamespace(printable('sessionKey', written)!, at);
  if (allowedPrefixes.length > 0) requirePrefix(key, allowedPrefixes, hasGatewaySessionKeys);
  return key;
}

const PAYLOAD_KEY_PROBLEM =
  'sessionKey is made of the payload, which this OpenClaw file does not allow: hooks.allowRequestSessionKey is not true';

function requirePrefix(key: string, allowed: readonly string[], isCaseFolded: boolean): void {
  const folded = (text: string): string => (isCaseFolded ? text.toLowerCase() : text);
  if (allowed.some((prefix) => folded(key).startsWith(folded(prefix)))) return;
  const problem = `sessionKey must start with one of the allowed prefixes: ${allowed.join(', ')}`;
  throw fieldError('sessionKey', problem);
}

/**
 * A key of an OpenClaw mapping may be long or have several lines there. Here it keeps its beginning, and a hash tells
 * it apart: the same key is the same conversation.
 */
function shortSessionKey(key: string): string {
  if (key.length <= MAX_KEY_CHARS && isPrintable(key)) return key;
  return `${oneLine(key, MAX_KEY_CHARS - 40)}#${hash('sha256', key).slice(0, 32)}`;
}

/** The runner of the agent that a hook names, or of the default agent; undefined where none is configured. */
export function agentRunner(
  values: RawFields,
  mapping: { readonly agentId?: string } | undefined,
  at: FieldContext,
): string | undefined {
  const {
    runners,
    allowed,
    openclawAgents,
    default: standard = openclawAgents?.[0],
  } = at.settings.hookAgents;
  const given =
    openclawAgents === undefined
      ? namedAgent(values, at)
      : openclawAgent(values, { openclawAgents, isRequest: mapping === undefined }, at);
  const id = given ?? mapping?.agentId ?? standard;
  const isNamed = (name: string): boolean =>
    name === id || (openclawAgents !== undefined && isSameAgent(name, id));
  if (allowed !== undefined && !allowed.some(isNamed)) {
    throw fieldError('agentId', 'the agent of this hook is not in the list of allowed agents');
  }
  return id === undefined || !Object.hasOwn(runners, id) ? undefined : runners[id];
}

function namedAgent(values: RawFields, at: FieldContext): string | undefined {
  const { runners } = at.settings.hookAgents;
  const given = optionalText(values, 'agentId', at);
  if (given !== undefined && Object.keys(runners).length === 0) {
    const message = 'agentId was ignored: this service has no agents to choose from';
    warn(at.warnings, { code: 'unknown_field', field: 'agentId', message });
  } else if (given !== undefined && !Object.hasOwn(runners, given)) {
    throw fieldError('agentId', 'agentId names no agent of this service');
  }
  return given;
}

/** There a request must name an agent that is there; what a transform names falls back to the default agent. */
function openclawAgent(
  values: RawFields,
  { openclawAgents, isRequest }: { readonly openclawAgents: readonly string[]; readonly isRequest: boolean },
  at: FieldContext,
): string | undefined {
  const value = values.agentId;
  const isText = typeof value === 'string' && value.trim() !== '';
  if (value === undefined || (!isRequest && !isText)) return undefined;
  if (!isText)
    throw fieldError('agentId', `agentId must be a text that is not blank, found ${kindOf(value)}`);
  const known = openclawAgents.find((id) => isSameAgent(id, value));
  if (known !== undefined) return known;
  if (isRequest) throw fieldError('agentId', 'agentId names no agent of this service');
  const message = 'agentId names no agent of this service, so the default agent takes the run';
  warn(at.warnings, { code: 'coerced_field', field: 'agentId', message });
  return undefined;
}

const isSameAgent = (id: string, other: string | undefined): boolean =>
  id.trim().toLowerCase() === other?.trim().toLowerCase();

function inHookNamespace(key: string, at: FieldContext): string {
  if (!namesMainSession(key)) return key;
  const problem = 'sessionKey is the key of the main session, which hooks may not use';
  if (!at.settings.lenient) {
    throw fieldError('sessionKey', `${problem}; use wake to tell it something, or a key such as hook:name`);
  }
  warn(at.warnings, {
    code: 'coerced_field',
    field: 'sessionKey',
    message: `${problem}; "hook:" was put before it`,
  });
  return printable('sessionKey', `hook:${key}`)!;
}

/** Refuses what cannot be in an environment variable, an argument or a log line. */
function printable(field: Field, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (text.length > MAX_KEY_CHARS) {
    throw fieldError(field, `${field} must be at most ${MAX_KEY_CHARS} characters, found ${text.length}`);
  }
  if (!isPrintable(text)) {
    throw fieldError(field, `${field} must be printable, found a control or invisible character`);
  }
  return text;
}

/** 400 naming the field, or a warning where the settings are lenient. */
function refuse(
  at: FieldContext,
  field: Field,
  expected: string,
  found: JsonValue,
  instead?: WakeMode | 'true' | 'false',
): undefined {
  const isWakeMode = instead === 'now' || instead === 'next-heartbeat';
  const other = typeof found === 'string' && isWakeMode ? 'another string' : kindOf(found);
  const message = `${field} must be ${expected}, found ${other}`;
  if (!at.settings.lenient) throw fieldError(field, message);
  const remark = instead === undefined ? 'it was ignored' : `${instead} was taken instead`;
  warn(at.warnings, { code: 'coerced_field', field, message: `${message}; ${remark}` });
  return undefined;
}

/** The kind of a JSON value in words; never the value itself. */
export function kindOf(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (value instanceof ExactNumber) return 'a number';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'boolean') return 'a boolean';
  if (typeof value === 'string') return 'a string';
  return Number.isFinite(value) ? 'a number' : 'a number out of range';
}
