import { isNumeric, valueAt, type JsonValue } from '../../../base/json.ts';
import { compileReader } from '../scope.ts';
import type { Operation } from './condition-check.ts';
import {
  evaluateList,
  MISSING,
  ROOT,
  UNKNOWN,
  type Evaluate,
  type Frame,
  type RuleValue,
} from './rule-value.ts';

/** Compiles `var`, with a name that is written or computed. */
export function compileVar(rule: Operation, operands: readonly Evaluate[]): Evaluate {
  const [name] = rule.operands;
  const [computed, fallback] = operands;
  if (computed === undefined || name === null || name === '') return compileLookup('', fallback);
  if (typeof name === 'string' || isNumeric(name)) return compileLookup(String(name), fallback);
  return (frame) => {
    const found = computed(frame);
    if (found === UNKNOWN || found === MISSING) return found;
    const text = nameOf(found);
    return text === undefined ? MISSING : compileLookup(text, fallback)(frame);
  };
}

/** A computed name: only texts and numbers are names; null stands for the whole data, as published. */
function nameOf(value: JsonValue): string | undefined {
  if (value === null) return '';
  return typeof value === 'string' || isNumeric(value) ? String(value) : undefined;
}

function compileLookup(name: string, fallback: Evaluate | undefined): Evaluate {
  const keys = name === '' ? [] : name.split('.');
  const readScope = compileReader(keys);
  return (frame) => {
    const { data, recorder } = frame;
    const value = data === ROOT ? readScope(frame.scope) : valueAt(data, keys);
    recorder?.read(name, value ?? (value === null ? null : MISSING));
    if (value !== undefined) return value;
    return fallback === undefined ? MISSING : fallback(frame);
  };
}

/** Compiles `missing`: the names of what was not sent. */
export function compileMissing(names: readonly Evaluate[]): Evaluate {
  return (frame) => missingOf(frame, keysOf(evaluateList(names, frame)));
}

/** Compiles `missing_some`: what is missing where fewer than so many were sent. */
export function compileMissingSome([count, names]: readonly Evaluate[]): Evaluate {
  return (frame) => {
    const needed = count?.(frame) ?? null;
    const list = names?.(frame) ?? null;
    if (needed === UNKNOWN || needed === MISSING || list === UNKNOWN || list === MISSING) return UNKNOWN;
    const keys = keysOf(Array.isArray(list) ? list : [list]);
    const missing = missingOf(frame, keys);
    return keys.length - missing.length >= Number(needed) ? [] : missing;
  };
}

/** `missing` takes its names as operands, or one list of them that another operator made. */
function keysOf(values: RuleValue): readonly JsonValue[] {
  if (!Array.isArray(values)) return [];
  const list = values as readonly JsonValue[];
  const [first] = list;
  return Array.isArray(first) ? (first as readonly JsonValue[]) : list;
}

/** Names of which nothing, null or an empty text was sent, as published. */
function missingOf(frame: Frame, names: readonly JsonValue[]): JsonValue[] {
  return names.filter((name) => {
    const text = nameOf(name);
    if (text === undefined) return true;
    const value = compileLookup(text, undefined)(frame);
    return value === MISSING || value === null || value === '';
  });
}
