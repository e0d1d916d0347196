import { HookError } from '../../errors.ts';
import type { WorkBudget } from '../work-budget.ts';

/** UTF-16 units; a longer prompt, recipient or key is a mistake or an attack. */
const MAX_OUTPUT = 1024 * 1024;

/**
 * Steps of one rendering: it cannot be interrupted, so it must end within some 40 ms. A step is about 10 ns: a
 * character that is read or made is one, the costs below are multiples of it.
 */
const MAX_STEPS = 4 * 1024 * 1024;
/** A turn of a loop. */
const TURN = 32;
/** A call of a helper or block. */
export const CALL = 12;
/** A key of an object that is listed. */
export const KEY = 12;

/**
 * What one rendering has cost so far, as a part of its request's work. A sender chooses how long lists are, so nested
 * loops or a helper inside a loop can multiply a body.
 */
export class RenderBudget {
  readonly #request: WorkBudget | undefined;
  #steps = 0;

  constructor(request: WorkBudget | undefined) {
    this.#request = request;
  }

  /** @throws HookError `too_much_work` beyond the bound */
  spend(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS) throw tooMuch(`takes more than ${MAX_STEPS} steps`);
    this.#request?.spend(steps);
  }

  turn(): void {
    this.spend(TURN);
  }
}

/** @throws HookError `too_much_work` where a rendering is longer than 1 MB */
export function checkOutput(text: string): string {
  if (text.length > MAX_OUTPUT) throw tooMuch(`makes more than ${MAX_OUTPUT} characters`);
  return text;
}

function tooMuch(what: string): HookError {
  return new HookError('too_much_work', `a template ${what} on this body; truncate or limit what it repeats`);
}
