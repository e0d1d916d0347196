import { HookError } from '../../../base/errors.ts';
import type { JsonValue } from '../../../base/request.ts';
import type { Scope } from '../compiled-mapping.ts';

/**
 * The values a rule works with. Two are no JSON: MISSING is what a `var` yields where nothing was sent, UNKNOWN what
 * becomes of an operator that needed it. Connectives carry UNKNOWN on by Kleene's logic; see `rule.ts`.
 */
export const MISSING = Symbol('missing');
export const UNKNOWN = Symbol('unknown');
export type RuleValue = JsonValue | typeof MISSING | typeof UNKNOWN;

/** In a frame's `data`: names are read from the scope, not from an element of a list. */
export const ROOT = Symbol('root');

/** Receives what an evaluation did; only `explain`, coverage and tests ask for it. */
export interface RuleRecorder {
  read(name: string, value: JsonValue | typeof MISSING): void;
  enter(node: number): void;
  leave(node: number, value: RuleValue): void;
  /** The element of a list that decided `some` or `none`. */
  decide(index: number, element: JsonValue): void;
}

/** One evaluation under way. `data` is the element inside `map`, `filter`, `all` and their kin. */
export interface RuleFrame {
  readonly scope: Scope;
  readonly recorder: RuleRecorder | undefined;
  data: JsonValue | typeof ROOT;
  /** Elements, list entries and characters made so far; see `spend`. */
  spent: number;
}

export type EvaluateRule = (frame: RuleFrame) => RuleValue;

/** JsonLogic's truth: like JavaScript's, but an empty list is false. Missing is false; unknown must not get here. */
export function truthy(value: Exclude<RuleValue, typeof UNKNOWN>): boolean {
  if (value === MISSING) return false;
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/**
 * Steps of one evaluation: elements visited, operators applied, text or list entries made. It cannot be interrupted,
 * and a sender chooses how long lists are, so it must end within some 50 ms.
 */
const MAX_SPENT = 2_000_000;

/** @throws HookError `too_much_work` beyond the bound of the condition or of the request */
export function spend(frame: RuleFrame, amount: number): void {
  frame.spent += amount;
  if (frame.spent > MAX_SPENT) {
    throw new HookError('too_much_work', `a condition takes more than ${MAX_SPENT} steps on this body`);
  }
  frame.scope.work?.spend(amount);
}

/** The values of a list; unknown where one of them is, null for what is missing. */
export function evaluateList(entries: readonly EvaluateRule[], frame: RuleFrame): RuleValue {
  const list: JsonValue[] = [];
  for (const entry of entries) {
    const value = entry(frame);
    if (value === UNKNOWN) return UNKNOWN;
    list.push(value === MISSING ? null : value);
  }
  return list;
}
