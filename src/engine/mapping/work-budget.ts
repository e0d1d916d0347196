import { HookError } from '../../base/errors.ts';

/** What one request may cost; `hooks.limits` of the configuration. */
export interface WorkLimits {
  /** Elements visited, helpers and operators called, characters read and made; a million take some 10 ms. */
  readonly steps: number;
  /** UTF-8 bytes that all templates of the request render together. */
  readonly renderedBytes: number;
  /** UTF-8 bytes of the texts of all actions, as they are stored. */
  readonly storedBytes: number;
}

/** Limits where the configuration says nothing. */
export const WORK_LIMITS: WorkLimits = {
  steps: 16_000_000,
  renderedBytes: 4 * 1024 * 1024,
  storedBytes: 16 * 1024 * 1024,
};

/** What a value costs that is read or made. */
export const sizeOf = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value) ? value.length : 1;

/** Steps after which others get a turn: some 5 ms. Counted, because a clock would make evaluation depend on its machine. */
const STEPS_PER_TURN = 500_000;

/**
 * Counts the work of one request. A sender chooses how long lists and texts are, and a mapping may multiply them
 * (`forEach`, nested loops), so the sum is bounded, and a request that takes long lets others in between.
 */
export class WorkBudget {
  readonly #limits: WorkLimits;
  #steps = 0;
  #renderedBytes = 0;
  #storedBytes = 0;
  /** Steps of this turn, those included that another limit bounds. */
  #turnSteps = 0;

  constructor(limits: WorkLimits) {
    this.#limits = limits;
  }

  /** @throws HookError `too_much_work` beyond the limit */
  spend(steps: number): void {
    this.#steps += steps;
    this.#turnSteps += steps;
    if (this.#steps > this.#limits.steps) throw tooMuchWork('takes', 'steps', this.#limits.steps);
  }

  /** Counts steps towards the turn alone: texts that another limit bounds, handed on and read again. */
  pass(steps: number): void {
    this.#turnSteps += steps;
  }

  /** Counts a rendered text. @throws HookError `too_much_work` beyond the limit */
  render(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#renderedBytes += bytes;
    if (this.#renderedBytes > this.#limits.renderedBytes) {
      throw tooMuchWork('renders', 'renderedBytes', this.#limits.renderedBytes);
    }
    this.#turnSteps += bytes;
  }

  /** Counts what is stored. @throws HookError `too_much_work` beyond the limit */
  store(...texts: readonly string[]): void {
    for (const text of texts) this.#storedBytes += Buffer.byteLength(text);
    if (this.#storedBytes > this.#limits.storedBytes) {
      throw tooMuchWork('stores', 'storedBytes', this.#limits.storedBytes);
    }
  }

  /** Whether so much was done since the last turn that others should get one; asking begins the next. */
  endsTurn(): boolean {
    if (this.#turnSteps < STEPS_PER_TURN) return false;
    this.#turnSteps = 0;
    return true;
  }
}

function tooMuchWork(verb: string, limit: keyof WorkLimits, value: number): HookError {
  const unit = limit === 'steps' ? 'steps' : 'bytes';
  return new HookError(
    'too_much_work',
    `this request ${verb} more than ${value} ${unit} in all; send fewer or shorter elements, or raise hooks.limits.${limit}`,
  );
}
