/**
 * Finds a request for which something holds. Each field gets the values that conditions compare it with,
 * and a few others, and all combinations are tried with the conditions themselves. A request that is found
 * therefore proves the claim; if none is found, nothing is known.
 */
import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import { canonicalPath, isListOperator, nameOfVariable, operationOf } from '../../../engine/mapping/facts.ts';
import { createHookRequest } from '../../../engine/hook/hook.ts';
import type { HookRequest } from '../../../base/request.ts';

const MAX_TRIED = 2_000;
const RECEIVED_AT = Date.UTC(2026, 0, 1);
const ABSENT = Symbol('absent');
type CandidateValue = JsonValue | typeof ABSENT;

export interface WitnessQuery {
  readonly path: string;
  readonly rules: readonly JsonValue[];
  readonly narrowed: readonly ReadonlyMap<string, ReadonlySet<string>>[];
  /** Where the search begins; the default is an empty request. */
  readonly base?: HookRequest;
  holds(request: HookRequest): boolean;
}

/** Returns a request that holds, without fields that it does not need; undefined where none of those tried holds. */
export function findWitness({ path, rules, narrowed, base, holds }: WitnessQuery): HookRequest | undefined {
  const fields = new Map<string, CandidateValue[]>();
  for (const rule of rules) collect(rule, fields);
  const domains = [...fields].flatMap(([field, found]): readonly Domain[] => {
    const keys = JSON.parse(field) as readonly string[];
    const limits = narrowed.flatMap((each) => each.get(field) ?? []);
    const values = limits.length > 0 ? [...limits.reduce((a, b) => a.intersection(b))] : usual(found);
    const isText = keys[0] === 'headers' || keys[0] === 'query';
    const fitting = isText ? values.filter((each) => each === ABSENT || typeof each === 'string') : values;
    return ['payload', 'headers', 'query'].includes(keys[0] ?? '') && keys.length > 1
      ? [{ keys, values: fitting }]
      : [];
  });
  const empty = { path, headers: {}, query: {}, payload: {} };
  let tried = 0;
  for (const combination of combinationsOf(domains)) {
    tried += 1;
    if (tried > MAX_TRIED) return undefined;
    const content = combination.reduce<Content>(put, base ?? empty);
    const request = createHookRequest({ ...content, path, receivedAt: RECEIVED_AT });
    if (holds(request)) return withoutNeedless(request, domains, holds);
  }
  return undefined;
}

function withoutNeedless(
  found: HookRequest,
  domains: readonly Domain[],
  holds: WitnessQuery['holds'],
): HookRequest {
  return domains.reduce((request, domain) => {
    const less = { ...request, ...put(request, [domain, ABSENT]) };
    return holds(less) ? less : request;
  }, found);
}

type Content = Pick<HookRequest, 'path' | 'headers' | 'query' | 'payload'>;

interface Domain {
  readonly keys: readonly string[];
  readonly values: readonly CandidateValue[];
}

const usual = (found: readonly CandidateValue[]): readonly CandidateValue[] => [
  ...new Set<CandidateValue>([...found, ABSENT, 'other', true, false]),
];

function* combinationsOf(
  domains: readonly Domain[],
): Generator<readonly (readonly [Domain, CandidateValue])[]> {
  const [first, ...rest] = domains;
  if (first === undefined) return yield [];
  for (const others of combinationsOf(rest))
    for (const value of first.values) yield [[first, value], ...others];
}

function put(content: Content, [{ keys }, value]: readonly [Domain, CandidateValue]): Content {
  return setAt(content, keys, value) as unknown as Content;
}

/** Returns a copy with the value at its place. A text or number on the way is replaced. */
function setAt(value: JsonValue | undefined, keys: readonly string[], to: CandidateValue): JsonValue {
  const [key, ...rest] = keys;
  // The list is copied, because `in` finds a list in a list only if it is the same one.
  if (key === undefined)
    return to === ABSENT ? null : Array.isArray(to) ? [...(to as readonly JsonValue[])] : to;
  if (Array.isArray(value) || (value === undefined && /^\d$/.test(key))) {
    const list = [...((value as readonly JsonValue[] | undefined) ?? [])];
    if (to !== ABSENT) list[Number(key)] = setAt(list[Number(key)], rest, to);
    return list;
  }
  const object = isJsonObject(value) ? value : {};
  if (to !== ABSENT) return { ...object, [key]: setAt(object[key], rest, to) };
  if (rest.length > 0 && object[key] !== undefined) return { ...object, [key]: setAt(object[key], rest, to) };
  return Object.fromEntries(Object.entries(object).filter(([each]) => each !== key));
}

function collect(rule: JsonValue, fields: Map<string, CandidateValue[]>): void {
  const { operator = '', operands = [] } = operationOf(rule) ?? {};
  const add = (name: JsonValue, values: readonly CandidateValue[]): void => {
    if (typeof name !== 'string' || name === '') return;
    const field = canonicalPath(name.split('.'));
    fields.set(field, [...(fields.get(field) ?? []), ...values]);
  };
  if (operator === 'var') return add(operands[0] ?? '', []);
  if (operator === 'missing') for (const name of operands.flat()) add(name, []);
  if (isListOperator(operator))
    return add(nameOfVariable(operands[0]) ?? '', [[elementFor(operands[1])], []]);
  const literals = operands.flatMap((each) => (isJsonObject(each) ? [] : literalsOf(each, operator)));
  for (const operand of operands) {
    const name = nameOfVariable(operand);
    if (name === undefined) collect(operand, fields);
    else add(name, literals);
  }
}

function literalsOf(value: JsonValue, operator: string): readonly CandidateValue[] {
  if (Array.isArray(value)) return value as readonly JsonValue[];
  if (typeof value === 'number') return [value, value + 1, value - 1];
  return operator === 'in' ? [value, [value]] : [value];
}

function elementFor(rule: JsonValue | undefined): JsonValue {
  const fields = new Map<string, CandidateValue[]>();
  const itself: CandidateValue[] = [];
  const visit = (each: JsonValue | undefined): void => {
    const { operator, operands = [] } = operationOf(each) ?? {};
    if (operands.some((operand) => nameOfVariable(operand) === ''))
      itself.push(...operands.filter((one) => !isJsonObject(one)));
    else if (isJsonObject(each)) collect(each, fields);
    if (operator === 'and' || operator === 'or') operands.forEach(visit);
  };
  visit(rule);
  const [only] = itself.flatMap((each) => literalsOf(each as JsonValue, ''));
  if (only !== undefined && only !== ABSENT) return only;
  return [...fields].reduce<JsonValue>((element, [field, [value = true]]) => {
    const keys = (JSON.parse(field) as readonly string[]).slice(1);
    return setAt(element, keys, value);
  }, {});
}
