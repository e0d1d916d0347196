import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Service, startService } from '../../src/service/startup/startup.ts';
import { createLogger } from '../../src/base/telemetry/telemetry.ts';
import { builtMain } from './built-program.ts';
import { cli, type CliOptions, type CliRun } from './cli-terminal.ts';
import { serviceAdvice } from '../../src/frontends/cli/lazy-advice.ts';
import { type AtEnd, temporaryFolder } from './temporary-folder.ts';

/** What a process of the command line needs of this one: a start without compiled code takes half as long again. */
export const START_ENV: NodeJS.ProcessEnv = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
};
export const TOKEN = 'a-hook-token-0123456789';

/** A folder that goes with the test or the file, with files in it, and command lines that run in it. */
export interface Bench {
  readonly folder: string;
  put(file: string, text: string): void;
  run(args: readonly string[], options?: Omit<CliOptions, 'cwd'>): Promise<CliRun>;
}

export function openBench(files: Readonly<Record<string, string>> = {}, atEnd?: AtEnd): Bench {
  const folder = temporaryFolder(atEnd);
  const put = (file: string, text: string): void => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  for (const [file, text] of Object.entries(files)) put(file, text);
  return { folder, put, run: (args, options) => cli(args, { ...options, cwd: folder }) };
}

/** Starts the bench's `sluice.yaml` as a whole service on a free port; what it logs goes to `log`. */
export async function serveBench(
  bench: Bench,
  log: string[] = [],
  atEnd: AtEnd = onTestFinished,
): Promise<Service> {
  const service = await startService({
    ...serviceAdvice,
    configFile: join(bench.folder, 'sluice.yaml'),
    env: { SLUICE_HOOK_TOKEN: TOKEN },
    log: createLogger({ destination: { write: (line: string) => log.push(line) > 0 } }),
  });
  atEnd(() => service.stop());
  return service;
}

/** A process of the command line that serves. */
export interface Running {
  readonly url: string;
  err(): string;
  signal(name: NodeJS.Signals): void;
  end(): Promise<number | null>;
}

/** Runs a command that serves as a process of its own, and waits until it says its address. */
export async function startBench(
  bench: Bench,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  atEnd: AtEnd = onTestFinished,
): Promise<Running> {
  const child = spawn(process.execPath, [builtMain(), ...args], {
    cwd: bench.folder,
    env: { ...START_ENV, ...env },
  });
  atEnd(() => void child.kill('SIGKILL'));
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const ended = new Promise<number | null>((done) => child.on('close', (code) => done(code)));
  const early = ended.then((code) => {
    throw new Error(`the service ended with ${code}:\n${err}`);
  });
  const url = await Promise.race([waitFor(() => /http:\/\/127\.0\.0\.1:\d+/.exec(err)?.[0]), early]);
  early.catch(() => undefined);
  return {
    url,
    err: () => err,
    signal: (name) => void child.kill(name),
    end: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Only ends what hangs: a busy machine needs half a minute for what is waited for. */
const WAIT_MS = 240_000;

/**
 * Asks again until something is there, less often the longer it takes, and pauses longer than it asks.
 * @throws Error after four minutes, at the line that waits
 */
export async function waitFor<Value>(
  ask: () => Promise<Value | undefined> | Value | undefined,
): Promise<Value> {
  const late = new Error(`what is waited for did not come within ${WAIT_MS / 1000} s: ${ask.toString()}`);
  const deadline = performance.now() + WAIT_MS;
  for (let pauseMs = 10; performance.now() < deadline; pauseMs = Math.min(2 * pauseMs, 160)) {
    const askedAt = performance.now();
    const value = await ask();
    if (value !== undefined) return value;
    const tookMs = performance.now() - askedAt;
    await new Promise((done) => setTimeout(done, Math.max(pauseMs, Math.min(2 * tookMs, 500))));
  }
  throw late;
}
