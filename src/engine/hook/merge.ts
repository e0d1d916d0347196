import type { Finding } from '../../base/finding.ts';
import { oneLine } from '../../base/boundary/boundary.ts';
import { didYouMean } from '../../base/document/document.ts';
import { defined, isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Behaviours } from '../config/config.ts';
import { MAPPING_KEYS } from '../mapping/mapping.ts';
import type { Draft, DraftKind } from './draft.ts';
import { AGENT_FIELDS, kindOf, typeProblem, WAKE_FIELDS, warn, type Field } from './action-fields.ts';

/** By `static` a transform of an OpenClaw file vouches for the session key that it returns. */
const KEY_SOURCE = 'sessionKeySource';

/** What a transform's result makes of a draft: drafts in order (none: skipped), or what is wrong with the result. */
export interface MergeResult {
  readonly drafts?: readonly Draft[];
  readonly problem?: string;
  /** The key that is wrong, where it is one of a mapping. */
  readonly mappingKey?: string | undefined;
}

/** Keys that one result adds. */
const MAX_KEYS = 10;

const FIELDS: ReadonlySet<string> = new Set<Field>([...WAKE_FIELDS, ...AGENT_FIELDS]);

/** Thrown inside this file only; its message names the key and may quote it, so it goes to the trace. */
class ResultProblem extends Error {
  readonly mappingKey: string | undefined;

  constructor(message: string, mappingKey?: string) {
    super(message);
    this.mappingKey = mappingKey;
  }
}

export interface MergeOptions {
  readonly warnings: Finding[];
  /** Ignore unknown keys and wrong types with a warning, as OpenClaw's transforms may have them. */
  readonly lenient: boolean;
  readonly behaviours: Behaviours;
  /** Whether the mapping has `conversation`, to which a result may add keys. */
  readonly takesKeys: boolean;
}

/**
 * Merges a transform's result over a draft: undefined keeps it, null skips it, an object overrides field by field (null
 * leaves a field as it is), an array makes several. A wrong type or an unknown key is a problem that names the key.
 */
export function mergeResult(draft: Draft, json: string | undefined, options: MergeOptions): MergeResult {
  if (json === undefined) return { drafts: [draft] };
  try {
    const result = JSON.parse(json) as JsonValue;
    if (!Array.isArray(result)) return { drafts: mergeOne(draft, result, '', options) };
    return {
      drafts: result.flatMap((entry: JsonValue, index) => mergeOne(draft, entry, `[${index}]`, options)),
    };
  } catch (error) {
    if (error instanceof ResultProblem) return { problem: error.message, mappingKey: error.mappingKey };
    if (error instanceof SyntaxError) return { problem: 'the result is not JSON' };
    throw error;
  }
}

function mergeOne(draft: Draft, result: JsonValue, at: string, options: MergeOptions): readonly Draft[] {
  if (result === null) return [];
  if (!isJsonObject(result) && options.behaviours.hasGatewayTransforms) return [draft];
  if (!isJsonObject(result)) {
    const expected = 'an object, an array of objects, null or undefined';
    throw new ResultProblem(`the result${at} is ${kindOf(result)}; expected ${expected}`);
  }
  const { [KEY_SOURCE]: keySource, ...own } = result;
  const keys = keysIn(result, at, options);
  const { hasGatewaySessionKeys = false } = options.behaviours;
  const read = readOverrides(hasGatewaySessionKeys ? own : result, `the result${at}`, options);
  const { kind = draft.kind, ...overrides } = read;
  const fields = kind === 'wake' ? asWake(draft, overrides, options.warnings) : asAgent(draft, overrides);
  const isKeyOwn = hasGatewaySessionKeys && keySource === 'static' && overrides['sessionKey'] !== undefined;
  return [{ kind, fields, ...(isKeyOwn && { isKeyOwn }), ...defined({ keys }) }];
}

/** Keys of its conversation that a result adds to those of the mapping. */
function keysIn({ keys }: JsonObject, at: string, { takesKeys }: MergeOptions): Draft['keys'] {
  if (!takesKeys || keys === undefined || keys === null) return undefined;
  const isRight =
    Array.isArray(keys) && keys.length <= MAX_KEYS && keys.every((key) => typeof key === 'string');
  if (!isRight)
    throw new ResultProblem(`keys in the result${at} must be a list of at most ${MAX_KEYS} strings`);
  return keys;
}

function readOverrides(
  result: JsonObject,
  where: string,
  { lenient, warnings, takesKeys }: MergeOptions,
): JsonObject & { readonly kind?: DraftKind } {
  const overrides: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(result)) {
    if (key === 'keys' && takesKeys) continue;
    if (value === null && (key === 'kind' || FIELDS.has(key))) continue;
    const problem = keyProblem(key, value, where);
    if (problem === undefined) overrides[key] = value;
    else if (!lenient) throw new ResultProblem(problem, ofMapping(key) ? key : undefined);
    else {
      const message = `${oneLine(problem, 300)}; it was ignored`;
      warn(warnings, { code: 'ignored_result_key', field: key, message });
    }
  }
  return overrides;
}

/** What is wrong with a key of a result, or undefined. */
function keyProblem(key: string, value: JsonValue, where: string): string | undefined {
  if (key === 'kind')
    return value === 'wake' || value === 'agent' || value === 'notify'
      ? undefined
      : `kind in ${where} must be wake, agent or notify`;
  if (FIELDS.has(key)) {
    const problem = typeProblem(key as Field, value);
    return problem === undefined ? undefined : `${key} in ${where} ${problem}`;
  }
  if (key === 'allowUnsafeExternalContent') {
    return `allowUnsafeExternalContent in ${where} is refused: only a mapping can turn the safety boundary off`;
  }
  if (ofMapping(key)) {
    const own = Object.hasOwn(RESULT_KEYS, key) ? `; a result has ${RESULT_KEYS[key]}` : '';
    return `"${key}" in ${where} is a key of the mapping: write it there, beside transform${own}`;
  }
  return unknownKey(key, where);
}

function unknownKey(key: string, where: string): string {
  const known = ['kind', ...FIELDS];
  const near = didYouMean(key, known);
  const hint = near === undefined ? '' : `; did you mean "${near}"?`;
  return `${JSON.stringify(key.slice(0, 80))} in ${where} is not a known key; expected one of ${known.join(', ')}${hint}`;
}

/** What a result has in place of keys of a mapping. */
const RESULT_KEYS: Readonly<Record<string, string>> = {
  messageTemplate: 'message',
  textTemplate: 'text',
  action: 'kind',
};

const ofMapping = (key: string): boolean =>
  MAPPING_KEYS.has(key) && key !== 'id' && key !== 'enabled' && !FIELDS.has(key) && key !== 'kind';

/** A wake has a text and a mode; a message or wakeMode is taken for them, and the rest is named. */
function asWake(draft: Draft, overrides: JsonObject, warnings: Finding[]): Draft['fields'] {
  const { fields } = draft;
  for (const field of Object.keys(overrides)) {
    if (['text', 'message', 'mode', 'wakeMode'].includes(field)) continue;
    warn(warnings, { code: 'unused_field', field, message: `${field} has no effect on a wake` });
  }
  return {
    ...firstOf('text', overrides['text'], overrides['message'], fields.text, fields.message),
    ...firstOf('mode', overrides['mode'], overrides['wakeMode'], fields.mode, fields.wakeMode),
  };
}

function asAgent(draft: Draft, overrides: JsonObject): Draft['fields'] {
  const { text, mode, ...fields } = draft.fields;
  const { text: newText, mode: newMode, ...others } = overrides;
  return {
    ...fields,
    ...others,
    ...firstOf('message', overrides['message'], newText, fields.message, text),
    ...firstOf('wakeMode', overrides['wakeMode'], newMode, fields.wakeMode, mode),
  };
}

function firstOf(field: Field, ...values: readonly (JsonValue | undefined)[]): Draft['fields'] {
  const value = values.find((candidate) => candidate !== undefined);
  return value === undefined ? {} : { [field]: value };
}
