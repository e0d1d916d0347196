import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { builtMain } from './built-program.ts';

/** No service outlives its test by more than this. A hundred kills need most of it, as what has gathered is performed. */
const LIFE_MS = 30 * 60_000;

/** A command of the CLI that goes on until it is ended. */
export interface LastingProcess {
  readonly child: ChildProcess;
  /** Lines of its log so far. */
  readonly log: readonly string[];
  /** Sends a signal and resolves to how the process ended. */
  end(
    signal: NodeJS.Signals,
  ): Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** The real service in a process of its own, started as an operator would. */
export interface ServiceProcess extends LastingProcess {
  readonly port: number;
}

/** Starts `sluice serve` on the configuration in `folder` and waits until it listens on a free port. */
export async function startServiceProcess(
  folder: string,
  env: NodeJS.ProcessEnv = {},
  { main = builtMain(), role }: { readonly main?: string; readonly role?: string } = {},
): Promise<ServiceProcess> {
  const ofRole = role === undefined ? [] : ['--role', role];
  const args = ['serve', '-c', join(folder, 'sluice.yaml'), '--port', '0', ...ofRole];
  const [started, port] = await startLasting(folder, args, {
    env,
    main,
    ready: /"url":"http:\/\/127\.0\.0\.1:(\d+)"/,
  });
  return { ...started, port: Number(port) };
}

/** Starts `sluice webhooks mail run` beside a service on `port`. */
export async function startMailRunProcess(
  folder: string,
  port: number,
  env: NodeJS.ProcessEnv = {},
): Promise<LastingProcess> {
  const args = ['webhooks', 'mail', 'run', '-c', 'sluice.yaml', '--against', `http://127.0.0.1:${port}`];
  return (await startLasting(folder, args, { env, ready: /"msg":"(reading mail)"/ }))[0];
}

/** Starts a command and waits for a line of its log; what stands in its brackets comes back. */
async function startLasting(
  folder: string,
  args: readonly string[],
  {
    env,
    ready,
    main = builtMain(),
  }: { readonly env: NodeJS.ProcessEnv; readonly ready: RegExp; readonly main?: string },
): Promise<readonly [LastingProcess, string]> {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), LIFE_MS);
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  void exited.then(() => clearTimeout(timer));
  const log: string[] = [];
  const lines = createInterface({ input: child.stderr });
  const found = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      log.push(line);
      const match = ready.exec(line)?.[1];
      if (match !== undefined) resolve(match);
    });
    lines.once('close', () =>
      reject(new Error(`${args.join(' ')} did not start:\n${log.slice(-20).join('\n')}`)),
    );
  });
  const end = async (signal: NodeJS.Signals): ReturnType<LastingProcess['end']> => {
    child.kill(signal);
    const [code, by] = await exited;
    return { code, signal: by };
  };
  return [{ child, log, end }, found];
}

/** Runs one command of the CLI in a process of its own. */
export async function runCommand(
  folder: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const child = spawn(process.execPath, [builtMain(), ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    timeout: 120_000,
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

/** Waits until a condition holds, asking every 25 ms, or less often where it takes longer to ask. */
export async function until<Value>(
  what: string,
  ask: () => Value | undefined | Promise<Value | undefined>,
  timeoutMs = 120_000,
): Promise<Value> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const askedAt = performance.now();
    const value = await ask();
    if (value !== undefined && value !== false) return value;
    const tookMs = performance.now() - askedAt;
    if (performance.now() > deadline) throw new Error(`${what} did not happen within ${timeoutMs} ms`);
    await new Promise((done) => setTimeout(done, Math.max(25, Math.min(tookMs, 500))));
  }
}
