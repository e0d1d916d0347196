/**
 * Finds out which promise a call waits for in vain. A call that ends pending is run once more, with the same argument,
 * time and chance and therefore the same end, in a realm whose `Promise` remembers where each promise was made: the
 * stack of a promise made in `await sleep(10)` goes through the line of the `await`.
 */
interface MadePromise {
  readonly stack: string;
  isSettled: boolean;
}

type Executor = (resolve: (value: unknown) => void, reject: (reason: unknown) => void) => void;

/** A promise that is never settled is among the first; a call that makes more is not waiting. */
const MAX_REMEMBERED = 1000;

/** Replaces the realm's `Promise`; the result tells where the first promise was made that is still not settled. */
export function tracePromises(): () => string {
  const Native = Promise;
  const made: MadePromise[] = [];
  const Traced = function Promise(this: unknown, executor: Executor): unknown {
    const mine: MadePromise = { stack: new Error('made').stack ?? '', isSettled: false };
    if (made.length < MAX_REMEMBERED) made.push(mine);
    const traced: Executor = (resolve, reject) => {
      const settle = (by: (value: unknown) => void) => (value: unknown) => {
        mine.isSettled = true;
        by(value);
      };
      executor(settle(resolve), settle(reject));
    };
    const target = new.target === undefined || new.target === (Traced as unknown) ? Native : new.target;
    return Reflect.construct(Native, [traced], target);
  };
  Object.setPrototypeOf(Traced, Native);
  Object.defineProperty(Traced, 'prototype', { value: Native.prototype, writable: false });
  Object.defineProperty(globalThis, 'Promise', { value: Traced, writable: true, configurable: true });
  return () => made.find(({ isSettled }) => !isSettled)?.stack ?? '';
}
