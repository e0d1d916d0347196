/** Modules by what they are: generations that use the same code under the same settings share isolates and breaker. */
import { Breaker } from './breaker.ts';
import type { LoadBody } from '../frames.ts';
import type { PooledModule } from './job-queue.ts';
import type { LoadedModule } from '../loader/load-modules.ts';
import type { TransformRef } from '../transform.ts';

interface RegisteredModule {
  readonly module: PooledModule;
  readonly key: string;
  uses: number;
}

export class ModuleRegistry {
  readonly #byKey = new Map<string, RegisteredModule>();
  #nextNumber = 1;

  retain(source: LoadedModule, ref: TransformRef, coverage: boolean): PooledModule {
    const { memoryMb, maxResultBytes, maxLogBytes, reuse, urlObject } = ref;
    const env = JSON.stringify(ref.env);
    const settings = { memoryMb, maxResultBytes, maxLogBytes, reuse, env, urlObject, coverage };
    const key = JSON.stringify([source.sha256, source.module, ref.export ?? null, ref.jit, settings]);
    const found = this.#byKey.get(key);
    if (found !== undefined) {
      found.uses += 1;
      return found.module;
    }
    const module = this.#make(source, { code: source.code, exportName: ref.export, ...settings });
    this.#byKey.set(key, { module, key, uses: 1 });
    return module;
  }

  #make({ module: name, sha256 }: LoadedModule, body: LoadBody): PooledModule {
    const number = this.#nextNumber;
    this.#nextNumber += 1;
    return { number, name, sha256, body, breaker: new Breaker(), quickAnswers: 0, usualMs: 0 };
  }

  /** True where nothing uses the module any more. */
  release(module: PooledModule): boolean {
    for (const registered of this.#byKey.values()) {
      if (registered.module !== module) continue;
      registered.uses -= 1;
      if (registered.uses === 0) this.#byKey.delete(registered.key);
      return registered.uses === 0;
    }
    return false;
  }

  openBreakers(now: number): { module: string; state: 'open' | 'half-open' }[] {
    const open: { module: string; state: 'open' | 'half-open' }[] = [];
    for (const { module } of this.#byKey.values()) {
      const state = module.breaker.state(now);
      if (state !== 'closed') open.push({ module: module.name, state });
    }
    return open;
  }
}
