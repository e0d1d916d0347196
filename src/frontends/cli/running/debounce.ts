/** Calls once things have been quiet for `ms`; a call under way is followed by at most one more. */
interface DebouncedCall {
  trigger(): void;
  /** Stops calling; resolves when the call under way has ended. */
  stop(): Promise<void>;
}

export function debounce(ms: number, call: () => Promise<void>): DebouncedCall {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  return {
    trigger: () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        running = running.then(call);
      }, ms);
    },
    stop: () => {
      clearTimeout(timer);
      return running;
    },
  };
}
