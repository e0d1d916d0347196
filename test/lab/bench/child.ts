import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A server in a process of its own. */
export interface StartedServer {
  readonly child: ChildProcess;
  readonly port: number;
  /** Milliseconds from spawn to the line that names the port. */
  readonly readyMs: number;
}

/** No bench child outlives this, whatever happens to the bench. */
const LIFE_MS = 15 * 60_000;

/** Starts a Node program and waits until a line of its stderr names its port (`port=N` or a URL with a port). `variables` are added to the environment. */
export async function startServer(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<StartedServer> {
  const startedAt = performance.now();
  const env = { ...process.env, ...variables };
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  const timer = setTimeout(() => child.kill('SIGKILL'), LIFE_MS);
  child.once('exit', () => clearTimeout(timer));
  child.stdout.resume();
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line);
    const port = /port=(\d+)|http:\/\/127\.0\.0\.1:(\d+)/.exec(line);
    if (port === null) continue;
    child.stderr.resume();
    return { child, port: Number(port[1] ?? port[2]), readyMs: performance.now() - startedAt };
  }
  throw new Error(`the server did not name its port: ${said.slice(-20).join('\n')}`);
}

/** Ends a server at once and waits until it is gone. */
export async function stopServer({ child }: StartedServer): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
