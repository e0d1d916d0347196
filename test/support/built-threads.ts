/**
 * Threads and processes that the service starts from `src` are started as they are built, where the run has built them:
 * each loads one file instead of forty that are to be read as TypeScript first. What loads transforms stays for the next
 * load (`loader-host.ts`).
 */
import childProcess from 'node:child_process';
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import threads from 'node:worker_threads';
import { loadInHost } from './loader-host.ts';

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
  const { execPath } = process;
  const { spawn } = childProcess;
  childProcess.spawn = ((command: string, args?: unknown, ...rest: unknown[]) => {
    const own = Array.isArray(args) && command === process.execPath;
    const changed = own
      ? (args as string[]).map((each) => (each.endsWith('main.ts') ? each : builtEntry(each)))
      : args;
    const start = (): childProcess.ChildProcess =>
      Reflect.apply(spawn, childProcess, [command, changed, ...rest]) as childProcess.ChildProcess;
    // Where a test takes the program away, it is missed.
    const loader =
      own && command === execPath
        ? (changed as string[]).find((each) => each.endsWith('/loader-process.js'))
        : undefined;
    return loader === undefined ? start() : loadInHost(loader, rest[0] as childProcess.SpawnOptions, start);
  }) as typeof spawn;
  const { fork } = childProcess;
  childProcess.fork = ((entry: string, ...rest: unknown[]) =>
    Reflect.apply(fork, childProcess, [
      builtEntry(entry),
      ...rest,
    ]) as childProcess.ChildProcess) as typeof fork;
  syncBuiltinESMExports();
}
