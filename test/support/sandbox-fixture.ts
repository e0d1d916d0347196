import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Breaker } from '../../src/engine/sandbox/host/breaker.ts';
import type { PooledModule } from '../../src/engine/sandbox/host/job-queue.ts';
import {
  Sandbox,
  type SandboxEvent,
  type SandboxOptions,
  type TransformCall,
  type TransformRef,
  type TransformReply,
  type Transforms,
} from '../../src/engine/sandbox/sandbox.ts';

/** 2001-09-09T01:46:40.000Z */
export const NOW = 1e12;

export function refTo(module: string, settings: Partial<TransformRef> = {}): TransformRef {
  const source = { file: 'mappings/m.yaml', text: `module: ${module}` };
  return {
    module,
    // Far away: what a test has to say of time, it says itself, and a busy machine may take a second for anything.
    timeoutMs: 5000,
    memoryMb: 64,
    maxResultBytes: 1_048_576,
    maxLogBytes: 65_536,
    reuse: false,
    env: {},
    jit: false,
    urlObject: false,
    at: { source, start: 8, end: source.text.length },
    ...settings,
  };
}

/** A module that a pool has not called yet. */
export function pooledModule(): PooledModule {
  const body = {
    code: '',
    memoryMb: 64,
    maxResultBytes: 1,
    maxLogBytes: 1,
    reuse: false,
    urlObject: false,
    env: '{}',
  };
  return { number: 1, name: 'x.ts', sha256: '', body, breaker: new Breaker(), quickAnswers: 0, usualMs: 0 };
}

/** The argument of a transform as JSON text. */
function argument(payload: unknown): string {
  const now = new Date(NOW).toISOString();
  return JSON.stringify({ payload, headers: {}, query: {}, path: 'test', url: '/hooks/test', now });
}

export async function callTransform(
  transforms: Transforms,
  ref: TransformRef,
  payload: unknown = {},
  options: Partial<Pick<TransformCall, 'seed' | 'budgetMs' | 'now' | 'key'>> = {},
): Promise<TransformReply> {
  const { seed = 7, budgetMs = 5000, now = NOW, key = '' } = options;
  return transforms.call({ ref, json: argument(payload), now, seed, key, budgetMs });
}

/** Calls as a sender that is told to come again, where the machine has too much else to do: it has no right to a time. */
export async function callAgain(
  transforms: Transforms,
  ref: TransformRef,
  payload: unknown,
): Promise<TransformReply> {
  for (;;) {
    const reply = await callTransform(transforms, ref, payload, { budgetMs: 60_000 });
    if (reply.kind === 'ok' || !/^no worker was free in time|^the machine is too busy/.test(reply.message))
      return reply;
  }
}

/** Process ids of this process's children that run a transform worker. */
export function workerPids(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').trim().split(' ');
  return children.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('--jitless');
    } catch {
      return false;
    }
  });
}

/** A transforms folder of its own with a sandbox; both go with `dispose`. */
export class SandboxFixture {
  readonly dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'sluice-transforms-')));
  readonly events: SandboxEvent[] = [];
  readonly sandbox: Sandbox;

  constructor(options: SandboxOptions = {}) {
    this.sandbox = new Sandbox({ onEvent: (event) => void this.events.push(event), ...options });
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(path.dirname(path.join(this.dir, name)), { recursive: true });
      writeFileSync(path.join(this.dir, name), content);
    }
  }

  load(refs: readonly TransformRef[]): Promise<Transforms> {
    return this.sandbox.loadTransforms(this.dir, refs, { cwd: this.dir });
  }

  /** Writes one module, loads it and calls it once. */
  async run(
    source: string,
    payload: unknown = {},
    settings: Partial<TransformRef> = {},
  ): Promise<TransformReply> {
    this.write({ 'one.ts': source });
    const ref = refTo('one.ts', settings);
    const transforms = await this.load([ref]);
    if (transforms.findings.length > 0) throw new Error(JSON.stringify(transforms.findings[0]));
    try {
      return await callTransform(transforms, ref, payload);
    } finally {
      transforms.release();
    }
  }

  async dispose(): Promise<void> {
    await this.sandbox.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }
}
