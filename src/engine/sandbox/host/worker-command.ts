/** How a worker process is started, and which protections the platform has for it. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

export interface WorkerSettings {
  /** The worker's whole program; it comes over standard input, so that no file of ours need be readable to it. */
  readonly program: string;
  /** The optimising compiler is on: faster, but loops exist that only a kill ends. */
  readonly jit: boolean;
  /** What the worker's modules may need in all; the data limit follows from it. */
  readonly memoryMb: number;
}

/** Measured: a worker before its first module, and what each isolate adds to it. */
const BASE_MB = 64;
const ISOLATE_MB = 3;
const MAX_ISOLATES = 24;
/** What idle isolates may keep (`worker-process.ts`), requests and results on their way. */
const KEPT_MB = 128 + 48;

const isLinux = process.platform === 'linux' && existsSync('/bin/sh');
const SETPRIV = ['/usr/bin/setpriv', '/bin/setpriv'].find((file) => isLinux && existsSync(file));

/** Protections that not every platform has, as far as this one lacks them. */
export const MISSING_PROTECTIONS: readonly string[] = [
  ...(isLinux ? [] : ['memory watch', 'data limit']),
  ...(SETPRIV === undefined ? ['parent death'] : []),
];

export interface WorkerCommand {
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Always this process's own Node: the PATH may hold an older one. */
export function workerCommand(settings: WorkerSettings): WorkerCommand {
  const env = { TZ: 'UTC', LANG: 'en_US.UTF-8' };
  const argv = nodeArguments(settings);
  // With the compiler each isolate reserves half a gigabyte that it never uses: a limit on data would say nothing.
  return { ...limitedCommand(argv, settings.jit ? undefined : dataLimitMb(settings.memoryMb)), env };
}

/** Node with a limit on its data and on that of what it starts, where the platform has one; it ends with this process. */
export function limitedCommand(
  argv: readonly string[],
  dataMb: number | undefined,
): Omit<WorkerCommand, 'env'> {
  if (!isLinux) return { file: process.execPath, argv };
  const limit = dataMb === undefined ? 'unlimited' : String(dataMb * 1024);
  const shell =
    'ulimit -d "$1"; ulimit -c 0; { echo 1000 > /proc/self/oom_score_adj; } 2> /dev/null; shift; exec "$@"';
  const guard = SETPRIV === undefined ? [] : [SETPRIV, '--pdeathsig', 'KILL', '--'];
  return { file: '/bin/sh', argv: ['-c', shell, 'sh', limit, ...guard, process.execPath, ...argv] };
}

function nodeArguments({ jit }: WorkerSettings): readonly string[] {
  return [
    ...(jit ? ['--no-turboshaft-loop-unrolling'] : ['--jitless']),
    '--v8-pool-size=1',
    '--expose-gc',
    '--no-warnings',
    '--permission',
    '--allow-addons',
    ...readablePaths().map((file) => `--allow-fs-read=${file}`),
    '--input-type=module',
    '-',
  ];
}

/** A running module may overshoot its limit before V8 notices, hence twice. */
function dataLimitMb(memoryMb: number): number {
  return BASE_MB + MAX_ISOLATES * ISOLATE_MB + KEPT_MB + 2 * memoryMb;
}

/** The native module's own folders; and the file by which its loader tells Alpine from other systems. */
function readablePaths(): string[] {
  const require = createRequire(import.meta.url);
  const isolatedVm = path.dirname(require.resolve('isolated-vm/package.json'));
  const build = path.dirname(
    createRequire(path.join(isolatedVm, 'x.js')).resolve('node-gyp-build/package.json'),
  );
  return [isolatedVm, build, '/etc/alpine-release'];
}
