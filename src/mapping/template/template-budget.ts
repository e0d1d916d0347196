import { HookError } from '../../errors.ts';

/** UTF-16 units; a longer prompt, recipient or key is a mistake or an attack. */
const MAX_OUTPUT = 1024 * 1024;

/** Units read and made by helpers and expressions of one rendering, and 16 for each turn of a loop. */
const MAX_WORK = 4 * 1024 * 1024;
const WORK_OF_TURN = 16;

/**
 * What one rendering has cost so far. A sender chooses how long lists are, so nested loops or a helper inside a loop
 * can multiply a body; the bounds end that within some 100 ms.
 */
export class RenderBudget {
  #work = 0;

  /** @throws HookError `mapping_failed` beyond the bound */
  spend(units: number): void {
    this.#work += units;
    if (this.#work > MAX_WORK) throw tooMuch('does not end within its bound of work');
  }

  turn(): void {
    this.spend(WORK_OF_TURN);
  }
}

/** @throws HookError `mapping_failed` where a rendering is longer than 1 MB */
export function checkOutput(text: string): string {
  if (text.length > MAX_OUTPUT) throw tooMuch(`makes more than ${MAX_OUTPUT} characters`);
  return text;
}

function tooMuch(what: string): HookError {
  return new HookError(
    'mapping_failed',
    `a template ${what} on this body; truncate or limit what it repeats`,
  );
}
