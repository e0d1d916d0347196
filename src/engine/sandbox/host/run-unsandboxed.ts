/** Runs a transform in a plain Node process, for breakpoints. It has every right that process has. */
import { spawn } from 'node:child_process';
import { extname } from 'node:path';
import { pathToFileURL, fileURLToPath } from 'node:url';

export interface UnsandboxedRun {
  /** Exit code of the process; null where a signal ended it. */
  readonly exitCode: number | null;
}

export interface UnsandboxedOptions {
  /** Default 9229; 0 lets the system choose, and Node prints which. */
  readonly inspectPort?: number;
  /** Default: standard error. */
  readonly onLine?: (line: string) => void;
  /** Ends the process. */
  readonly signal?: AbortSignal;
}

/**
 * Starts `file` under tsx with `--inspect-brk`, prints to this process's output what it does, and waits for its end.
 * The result is printed by the process itself, as JSON. `input` is JSON text of the transform's argument.
 */
export async function runTransformUnsandboxed(
  file: string,
  exportName: string | undefined,
  input: string,
  options: UnsandboxedOptions = {},
): Promise<UnsandboxedRun> {
  const { inspectPort = 9229, onLine = (line) => void process.stderr.write(`${line}\n`), signal } = options;
  onLine(
    'WARNING: this runs the transform OUTSIDE the sandbox, with all rights of your user: files, network, processes',
  );
  onLine(`open chrome://inspect or attach your editor to 127.0.0.1:${inspectPort}; the process waits for it`);
  const argv = [
    `--inspect-brk=127.0.0.1:${inspectPort}`,
    '--import',
    import.meta.resolve('tsx'),
    fileURLToPath(ENTRY),
    pathToFileURL(file).href,
    exportName ?? '',
  ];
  return runProcess(argv, input, signal);
}

const ENTRY = new URL(`../unsandboxed-process${extname(import.meta.url)}`, import.meta.url);

function runProcess(
  argv: readonly string[],
  input: string,
  signal: AbortSignal | undefined,
): Promise<UnsandboxedRun> {
  const child = spawn(process.execPath, argv, {
    stdio: ['pipe', 'inherit', 'inherit'],
    ...(signal === undefined ? {} : { signal, killSignal: 'SIGKILL' }),
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      if (error.name !== 'AbortError') reject(error);
    });
    child.once('close', (exitCode) => resolve({ exitCode }));
  });
}
