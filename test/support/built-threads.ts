/**
 * Threads and processes that the service starts from `src` are started as they are built, where the run has built them:
 * each loads one file instead of forty that are to be read as TypeScript first.
 */
import childProcess from 'node:child_process';
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import threads from 'node:worker_threads';

const ROOT = join(import.meta.dirname, '../..');
const SOURCE = join(ROOT, 'src/');
const built = process.env['BUILT_FOR_TESTS'];

/** The built file of an entry in `src`; anything else stays. */
function builtEntry(entry: string): string {
  if (built === undefined || !entry.startsWith(SOURCE)) return entry;
  const file = join(ROOT, built, entry.slice(SOURCE.length).replace(/\.ts$/, '.js'));
  return existsSync(file) ? file : entry;
}

if (built !== undefined && !('builtThreads' in globalThis)) {
  Object.assign(globalThis, { builtThreads: true });
  const { Worker } = threads;
  threads.Worker = class extends Worker {
    constructor(entry: string | URL, options?: threads.WorkerOptions) {
      super(entry instanceof URL ? pathToFileURL(builtEntry(fileURLToPath(entry))) : entry, options);
    }
  };
  const { spawn } = childProcess;
  childProcess.spawn = ((command: string, args?: unknown, ...rest: unknown[]) => {
    const own = Array.isArray(args) && command === process.execPath;
    const changed = own
      ? (args as string[]).map((each) => (each.endsWith('main.ts') ? each : builtEntry(each)))
      : args;
    return Reflect.apply(spawn, childProcess, [command, changed, ...rest]) as childProcess.ChildProcess;
  }) as typeof spawn;
  const { fork } = childProcess;
  childProcess.fork = ((entry: string, ...rest: unknown[]) =>
    Reflect.apply(fork, childProcess, [
      builtEntry(entry),
      ...rest,
    ]) as childProcess.ChildProcess) as typeof fork;
  syncBuiltinESMExports();
}
