/**
 * Operator code that cannot hurt, block or leak: transforms are linked without running on the host (`load-graph.ts`),
 * run in frozen isolates (`realm.ts`) inside worker processes (`worker-process.ts`), under a supervisor that holds
 * the deadlines (`pool.ts`).
 */
import type { Finding } from '../../base/document/document.ts';
import { defined } from '../../base/json.ts';
import { inspectModule } from './host/inspect-module.ts';
import type { PooledModule } from './host/job-queue.ts';
import { loadModules, type LoadedModules, type TransformsFolder } from './loader/load-modules.ts';
import { StackMapper } from './host/map-stack.ts';
import { ModuleRegistry, settingsKey } from './host/module-registry.ts';
import type { TransformFigures } from '../../base/telemetry/telemetry.ts';
import { Pool, type PoolEvent } from './host/pool.ts';
import { failedReply, replyTo } from './host/reply.ts';
import type { TransformCall, TransformRef, TransformReply, Transforms } from './transform.ts';

export { defineTransform } from './author.ts';
export type { AgentResult, Transform, TransformContext, TransformResult, WakeResult } from './author.ts';
export { hashModules } from './loader/hash-modules.ts';
export { type Typecheck, typecheckTransforms, type TypecheckOptions } from './loader/typecheck.ts';
export { MISSING_PROTECTIONS } from './host/worker-command.ts';
export type { PoolEvent as SandboxEvent } from './host/pool.ts';
export type {
  MappedPosition,
  TransformCall,
  TransformFailure,
  TransformLogLine,
  TransformRef,
  TransformReply,
  Transforms,
} from './transform.ts';

export interface SandboxOptions {
  /** Worker processes that take calls; default 2. */
  readonly workers?: number;
  /** Worker processes kept ready for when one is killed; default 1. */
  readonly spare?: number;
  /** Called with what operators should know; never with anything of a payload. */
  readonly onEvent?: (event: PoolEvent) => void;
}

export interface ModuleLoadOptions {
  /** Directory that printed file names are relative to; default the working directory. */
  readonly cwd?: string;
}

export interface SandboxHealth {
  readonly ok: boolean;
  /** Why not, for `/readyz`. */
  readonly reason?: string;
}

const INSPECTED_AT_A_TIME = 8;
/** JSON text a module may be given for each MB of its memory: parsed it takes ten times as much. */
const INPUT_BYTES_PER_MB = 32 * 1024;

/** The sandbox of a service: one set of worker processes for all generations. Nothing starts before a module is loaded. */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #registry = new ModuleRegistry();
  readonly #pools = new Map<boolean, Pool>();
  readonly #calls = new Map<string, number>();
  #stopped = false;

  constructor(options: SandboxOptions = {}) {
    this.#options = options;
  }

  /** Links the modules of `refs` (relative to `dir`) and tries each once in its isolate. Never rejects for what a module does. */
  async loadTransforms(
    dir: string,
    refs: readonly TransformRef[],
    options: ModuleLoadOptions = {},
  ): Promise<Transforms> {
    const folder = { dir, ...defined({ cwd: options.cwd }) };
    const loaded = await loadModules(folder, refs);
    const entries = this.#makeEntries(folder, refs, loaded);
    const findings = [...loaded.findings, ...(await this.#inspectAll(entries, refs))];
    const hashes = new Map([...loaded.modules].map(([name, { sha256 }]) => [name, sha256]));
    const code = new Map([...loaded.modules].map(([name, linked]) => [name, linked.code]));
    return { findings, hashes, code, files: loaded.files, ...this.#usesOf(entries) };
  }

  #usesOf(entries: ReadonlyMap<string, GenerationModule>): Pick<Transforms, 'call' | 'release'> {
    const byRef = new WeakMap<TransformRef, GenerationModule>();
    let isReleased = false;
    return {
      call: (call) => {
        const entry = byRef.get(call.ref) ?? entries.get(settingsKey(call.ref));
        if (entry !== undefined) byRef.set(call.ref, entry);
        return this.#count(this.#run(entry, call));
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        for (const { module, pool } of entries.values())
          if (this.#registry.release(module)) pool.drop(module);
      },
    };
  }

  #makeEntries(
    folder: TransformsFolder,
    refs: readonly TransformRef[],
    loaded: LoadedModules,
  ): ReadonlyMap<string, GenerationModule> {
    const entries = new Map<string, GenerationModule>();
    for (const ref of refs) {
      const source = loaded.modules.get(ref.module);
      const key = settingsKey(ref);
      if (source === undefined || entries.has(key)) continue;
      const module = this.#registry.retain(source, ref);
      const pool = this.#pool(ref.jit, loaded.workerProgram);
      entries.set(key, { module, pool, mapper: new StackMapper(folder, source) });
    }
    return entries;
  }

  /** Whether worker processes start; true where none was ever needed. */
  get health(): SandboxHealth {
    if ([...this.#pools.values()].every((pool) => pool.isHealthy)) return { ok: true };
    return { ok: false, reason: 'the processes that run transforms do not start' };
  }

  get stats(): TransformFigures {
    return {
      calls: Object.fromEntries(this.#calls),
      pools: [...this.#pools.values()].map(({ stats }) => stats),
      breakers: this.#registry.openBreakers(performance.now()),
    };
  }

  /** Turns new calls away, lets running ones end within their limits, ends all processes. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#pools.values()].map((pool) => pool.stop()));
  }

  async #count(answer: Promise<TransformReply>): Promise<TransformReply> {
    const reply = await answer;
    const label = reply.kind === 'ok' ? 'ok' : reply.failure;
    this.#calls.set(label, (this.#calls.get(label) ?? 0) + 1);
    return reply;
  }

  /** A few at a time: what waits in the pool for longer than a sender would is turned away. */
  async #inspectAll(
    entries: ReadonlyMap<string, GenerationModule>,
    refs: readonly TransformRef[],
  ): Promise<readonly Finding[]> {
    const waiting = [...entries].map(([key, entry], index) => ({ key, entry, index }));
    const found: (readonly Finding[])[] = [];
    const inspectNext = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { key, entry, index } = next;
        const ref = refs.find((one) => settingsKey(one) === key) as TransformRef;
        const context = contextOf(entry, ref, ref.timeoutMs);
        found[index] = await inspectModule(entry.pool, entry.module, context);
      }
    };
    await Promise.all(Array.from({ length: INSPECTED_AT_A_TIME }, inspectNext));
    return found.flat();
  }

  async #run(entry: GenerationModule | undefined, call: TransformCall): Promise<TransformReply> {
    const { ref, json } = call;
    if (entry === undefined) return failedReply('load-error', 'the module could not be loaded');
    const { sha256 } = entry.module;
    if (this.#stopped) return failedReply('deferred', 'the sandbox is stopping', sha256);
    const bytes = Buffer.byteLength(json);
    if (bytes > ref.memoryMb * INPUT_BYTES_PER_MB) {
      const message = `a request of ${bytes} bytes is too large for ${ref.memoryMb} MB of memory (memoryMb)`;
      return failedReply('memory', message, sha256);
    }
    const timeoutMs = Math.max(1, Math.floor(Math.min(ref.timeoutMs, call.budgetMs)));
    const { now, seed, key = '' } = call;
    const asked = { kind: 'call', now, seed, key } as const;
    const outcome = await entry.pool.submit(entry.module, timeoutMs, asked, { json, bytes });
    try {
      return replyTo(outcome, contextOf(entry, ref, timeoutMs));
    } catch {
      // A worker that writes nonsense is no longer ours.
      return failedReply('crashed', 'its worker process gave an answer that cannot be read', sha256);
    }
  }

  #pool(jit: boolean, program: string): Pool {
    const found = this.#pools.get(jit);
    if (found !== undefined) return found;
    const { workers = 2, spare = 1, onEvent = () => undefined } = this.#options;
    const pool = new Pool({ workers, spare: jit ? 0 : spare, jit, program, onEvent });
    this.#pools.set(jit, pool);
    // Loading may have begun before the stop.
    if (this.#stopped) void pool.stop();
    return pool;
  }
}

interface GenerationModule {
  readonly module: PooledModule;
  readonly pool: Pool;
  readonly mapper: StackMapper;
}

function contextOf(entry: GenerationModule, ref: TransformRef, timeoutMs: number) {
  return { ref, timeoutMs, sha256: entry.module.sha256, mapper: entry.mapper };
}
