/** Modules by what they are: generations that use the same code under the same settings share isolates and breaker. */
import { Breaker } from './breaker.ts';
import type { TransformFigures } from '../../../base/telemetry/telemetry.ts';
import type { PooledModule } from './job-queue.ts';
import type { LoadedModule } from '../loader/load-modules.ts';
import type { TransformRef } from '../transform.ts';

export class ModuleRegistry {
  readonly #byKey = new Map<string, { readonly module: PooledModule; uses: number }>();
  #nextNumber = 1;

  retain(source: LoadedModule, ref: TransformRef): PooledModule {
    const key = JSON.stringify([source.sha256, settingsKey(ref)]);
    const registered = this.#byKey.get(key) ?? { module: this.#make(source, ref), uses: 0 };
    registered.uses += 1;
    this.#byKey.set(key, registered);
    return registered.module;
  }

  #make({ module: name, sha256, code }: LoadedModule, ref: TransformRef): PooledModule {
    const { export: exportName, memoryMb, maxResultBytes, maxLogBytes, reuse, urlObject } = ref;
    const settings = { memoryMb, maxResultBytes, maxLogBytes, reuse, urlObject };
    const body = { code, exportName, ...settings, env: JSON.stringify(ref.env) };
    const number = this.#nextNumber;
    this.#nextNumber += 1;
    return { number, name, sha256, body, breaker: new Breaker(), quickAnswers: 0, usualMs: 0 };
  }

  /** True where nothing uses the module any more. */
  release(module: PooledModule): boolean {
    for (const [key, registered] of this.#byKey) {
      if (registered.module !== module) continue;
      registered.uses -= 1;
      if (registered.uses === 0) this.#byKey.delete(key);
      return registered.uses === 0;
    }
    return false;
  }

  openBreakers(now: number): TransformFigures['breakers'] {
    return [...this.#byKey.values()]
      .map(({ module: { name, breaker } }) => ({ module: name, state: breaker.state(now) }))
      .filter(({ state }) => state !== 'closed');
  }
}

/** Two refs with the same key share an isolate. The time limit is no part of it: it comes with each call. */
export function settingsKey({ timeoutMs: _limit, at: _place, ...settings }: TransformRef): string {
  return JSON.stringify(settings);
}
