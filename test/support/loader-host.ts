/**
 * One process for all loads of transforms of a test process, one load after the other. The product starts a process for
 * each; most of the processor time of that is the reading of its compilers, here it is done once. The program is the
 * product's own, begun anew for each load. A load that fails ends the process, and the next one gets another.
 */
import { type ChildProcess, fork, type SpawnOptions } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { LoaderReply } from './loader-host-process.ts';

const PROGRAM = fileURLToPath(new URL('./loader-host-process.ts', import.meta.url));

let host: ChildProcess | undefined;
let last: Promise<void> = Promise.resolve();

/**
 * What stands for the process of one load. `start` starts a real one: a load whose compiler is another one has it, as the
 * host has its compiler already.
 */
export function loadInHost(
  entry: string,
  { env, timeout = 0 }: SpawnOptions,
  start: () => ChildProcess,
): ChildProcess {
  if (env?.['ESBUILD_BINARY_PATH'] !== undefined) return start();
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const standIn = Object.assign(new EventEmitter(), { stdin, stdout, stderr });
  last = last.then(async () => {
    const { out = '', complaint = '', signal = null } = await load(entry, await text(stdin), timeout);
    stdout.end(out);
    stderr.end(complaint);
    standIn.emit('close', signal === null ? Number(out === '') : null, signal);
  });
  return standIn as unknown as ChildProcess;
}

interface Loaded extends LoaderReply {
  readonly signal?: NodeJS.Signals | null;
}

/** Has the host load; one that does not answer in time, or dies, is no host for the next load. */
function load(entry: string, request: string, timeout: number): Promise<Loaded> {
  const asked = (host ??= startHost());
  return new Promise((resolve) => {
    const timer = timeout > 0 ? setTimeout(() => asked.kill('SIGKILL'), timeout) : undefined;
    const end = (loaded: Loaded): void => {
      clearTimeout(timer);
      asked.removeAllListeners();
      if (loaded.out === undefined) host = undefined;
      resolve(loaded);
    };
    asked.once('exit', (_code, signal) => end({ signal }));
    asked.once('message', (reply) => end(reply as LoaderReply));
    asked.send({ entry, request });
  });
}

/** It keeps no test process alive, and ends with it. */
function startHost(): ChildProcess {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const started = fork(PROGRAM, {
    execArgv: ['--no-warnings'],
    // As the product says: no cache of the compiler in a folder for all.
    env: { ...environment, TSX_DISABLE_CACHE: '1' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  started.unref();
  started.channel?.unref();
  return started;
}
