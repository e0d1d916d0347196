import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { startServer, stopServer } from '../bench/child.ts';

export const TOKEN = 'redteam-token-0123456789abcdef';

export interface AttackedService {
  readonly port: number;
  readonly healthPort: number;
  /** The file of its store. */
  readonly store: string;
  /** Seconds of processor time it has used; undefined where the system does not say. */
  cpuSeconds(): number | undefined;
  /** Megabytes that it holds in memory; undefined where the system does not say, or it has ended. */
  residentMb(): number | undefined;
  stop(): Promise<void>;
}

/** Accepting is what is attacked: runs wait in the store. */
const GATEWAY = `gateway:
  maxRuns: 1
  runner: {kind: command, argv: [sleep, "600"]}
  heartbeat: {everySeconds: 0}
`;
const CONFIG = `
hooks:
  enabled: true
  token: ${TOKEN}
  mappingsDir: mappings
log: {level: info}
`;

/** The built service with its default limits. */
export async function startAttacked(
  options: {
    readonly mappings?: string;
    /** In place of the runner that never answers, and more of the configuration. */
    readonly gateway?: string;
    /** `hooks.mail`. */
    readonly mail?: object;
    /** A module that is loaded before the service. */
    readonly preload?: URL;
    /** Of V8; default its own. */
    readonly heapMb?: number;
    readonly variables?: Readonly<Record<string, string>>;
  } = {},
): Promise<AttackedService> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-redteam-'));
  const config = join(folder, 'sluice.yaml');
  // Below the ports that the system gives to strangers.
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const healthPort = port + 1;
  const server = JSON.stringify({ health: { port: healthPort } });
  await mkdir(join(folder, 'mappings'));
  await writeFile(join(folder, 'mappings', 'attacked.yaml'), options.mappings ?? '[]');
  const mail = options.mail === undefined ? '' : `  mail: ${JSON.stringify(options.mail)}\n`;
  const text = CONFIG.replace('  mappingsDir', `${mail}  mappingsDir`) + (options.gateway ?? GATEWAY);
  const { preload, heapMb } = options;
  const flags = [
    ...(preload === undefined ? [] : ['--import', preload.href]),
    ...(heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`]),
  ];
  await writeFile(config, `${text}server: ${server}\nstorage: {url: "sqlite:${folder}/store.db"}\n`);
  const main = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
  const started = await startServer(
    [...flags, main, 'serve', '-c', config, '--port', String(port)],
    options.variables,
  );
  // It has named its health listener; the other one follows.
  while (!(await answers(port))) await delay(20);
  return {
    port,
    healthPort,
    store: join(folder, 'store.db'),
    cpuSeconds: () => cpuSeconds(started.child.pid),
    residentMb: () => residentMb(started.child.pid),
    stop: async () => {
      await stopServer(started);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answers(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
  return answer?.ok === true;
}

/** Fields 14 and 15 of Linux' `/proc/PID/stat`, in ticks of 10 ms. */
export function cpuSeconds(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    return ((user ?? 0) + (system ?? 0)) / 100;
  } catch {
    return undefined;
  }
}

/** `VmRSS` of Linux' `/proc/PID/status`, in KB there. */
export function residentMb(pid: number | undefined): number | undefined {
  try {
    const found = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found === null ? undefined : Math.round(Number(found[1]) / 1024);
  } catch {
    return undefined;
  }
}
