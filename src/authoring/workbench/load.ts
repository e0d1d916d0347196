/**
 * Loads the files of a configuration as `serve` would, for commands, the console, the language server and
 * agents' tools. What it loads never goes live.
 */
import { defined } from '../../base/json.ts';
import type { Finding } from '../../base/document/document.ts';
import { Sandbox } from '../../engine/sandbox/sandbox.ts';
import type { KeptGeneration } from '../../engine/storage/storage.ts';
import {
  checkGeneration,
  checkTypes,
  type Generation,
  type GenerationOptions,
  loadGeneration,
  loadKeptGeneration,
  type LoadedGeneration,
} from '../../service/generation/generation.ts';
import { advise } from '../advice/advice.ts';

export interface WorkbenchOptions extends Pick<GenerationOptions, 'env' | 'mayLoadPlugins'> {
  /** Default false, because most work is done where the secrets are not. */
  readonly needSecrets?: boolean;
  /** Whether a hook token must be there; default false, as `sluice dev` makes one. */
  readonly needToken?: boolean;
  /** Processes that run transforms; default 2. */
  readonly workers?: number;
}

/** What differs from the files: texts or folders in their place, or no transforms. */
export type Changes = Pick<GenerationOptions, 'open' | 'folders' | 'withoutTransforms' | 'reuse'>;

export interface LoadedFiles extends LoadedGeneration, AsyncDisposable {
  /** Frees what belongs only to this load. */
  release(): Promise<void>;
}

/** Files without errors, which can judge requests. */
export type ValidFiles = Pick<Required<LoadedGeneration>, 'generation' | 'findings'>;

export const judging = ({ generation, findings = [] }: Partial<LoadedFiles> = {}): ValidFiles | undefined =>
  generation && { generation, findings };

export class Workbench implements AsyncDisposable {
  readonly #file: string;
  readonly #options: GenerationOptions;

  constructor(file: string, { workers, needToken = false, ...options }: WorkbenchOptions) {
    const sandbox = new Sandbox({ spare: 0, ...defined({ workers }) });
    this.#file = file;
    this.#options = { needSecrets: false, dev: !needToken, advise, ...options, sandbox };
  }

  async load(changes: Changes = {}): Promise<LoadedFiles> {
    const loaded = await loadGeneration(this.#file, { ...this.#options, ...changes });
    return workOf(loaded, changes.reuse);
  }

  /** Loads what was live once. Returns undefined where `now` judges alike, and where it cannot be loaded any more. */
  async loadKept(
    kept: KeptGeneration,
    given: {
      readonly now: Generation | undefined;
      readonly hooks: Generation['config']['settings']['hooks'];
    },
  ): Promise<LoadedFiles | undefined> {
    const old = await loadKeptGeneration(this.#file, kept, { ...this.#options, ...given });
    if (old === undefined) return undefined;
    return workOf(old, undefined, () => old.close());
  }

  check(): ReturnType<typeof checkGeneration> {
    return checkGeneration(this.#file, this.#options);
  }

  /** Returns the type errors of the transforms. `check` reports where nothing could be checked. */
  async findTypeErrors(generation: Generation): Promise<readonly Finding[]> {
    const found = await checkTypes(generation, { file: this.#file, env: this.#options.env });
    return found.filter(({ severity }) => severity === 'error');
  }

  stop(): Promise<void> {
    return this.#options.sandbox.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Transforms that came from another generation are freed with that one. */
export function workOf(
  { generation, findings, ignored }: LoadedGeneration,
  other?: Changes['reuse'],
  close?: () => Promise<void>,
): LoadedFiles {
  const release = async (): Promise<void> => {
    if (generation?.transforms !== other?.transforms) generation?.transforms.release();
    await close?.();
  };
  return { ...defined({ generation }), findings, ignored, release, [Symbol.asyncDispose]: release };
}
