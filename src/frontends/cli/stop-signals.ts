/**
 * Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. The listeners stay: while commands
 * of agents run, the library that starts them listens, too, and ends the process at a signal to which nobody else
 * listens. One that goes with its first signal (`once`) is gone when it looks.
 */
export function untilStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((done) => {
    let isStopping = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (isStopping) process.exit(1);
      isStopping = true;
      done(signal);
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}
