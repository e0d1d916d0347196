import { formatDiagnostics, type Diagnostic } from '../document/document.ts';
import { loadGeneration, type Generation } from '../generation/generation.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { findConfigFile, type ConfigFlags } from './config-file.ts';
import { CliError, type Terminal } from './terminal.ts';

/** A generation loaded for authors: nothing served, closed when the command ends. */
export interface Workbench {
  readonly generation: Generation;
  readonly diagnostics: readonly Diagnostic[];
  /** Files and folders whose change makes another generation. */
  watchedPaths(): readonly string[];
  /** Loads again; on errors prints them, keeps the old generation and resolves to false. */
  reload(): Promise<boolean>;
  close(): Promise<void>;
}

export interface WorkbenchOptions {
  /** True for commands that judge or make proofs. */
  readonly needSecrets?: boolean;
  readonly coverage?: boolean;
}

/** Loads the configuration's mappings and transforms; errors are printed and end the command. */
export async function openWorkbench(
  terminal: Terminal,
  flags: ConfigFlags,
  options: WorkbenchOptions = {},
): Promise<Workbench> {
  const file = findConfigFile(terminal, flags);
  const sandbox = new Sandbox();
  const load = async (): Promise<{ generation?: Generation; diagnostics: readonly Diagnostic[] }> =>
    loadGeneration(file, {
      env: terminal.env,
      needSecrets: options.needSecrets === true,
      dev: true,
      sandbox,
      coverage: options.coverage === true,
    });
  const first = await load();
  let { generation } = first;
  if (generation === undefined) {
    await sandbox.stop();
    terminal.err(formatDiagnostics(first.diagnostics, { color: terminal.color }));
    throw new CliError('the configuration, a mapping or a transform has errors; nothing was run');
  }
  return {
    get generation() {
      return generation as Generation;
    },
    diagnostics: first.diagnostics,
    watchedPaths: () => (generation as Generation).watchedPaths,
    reload: async () => {
      const next = await load();
      if (next.generation === undefined)
        terminal.err(formatDiagnostics(next.diagnostics, { color: terminal.color }));
      else {
        const replaced = generation;
        generation = next.generation;
        replaced?.transforms.release();
      }
      return next.generation !== undefined;
    },
    close: () => sandbox.stop(),
  };
}

/** A workbench for a command that may need none: opened when it is first asked for, and only once. */
export class LateWorkbench {
  readonly #terminal: Terminal;
  readonly #flags: ConfigFlags;
  #opened: Workbench | undefined;

  constructor(terminal: Terminal, flags: ConfigFlags) {
    this.#terminal = terminal;
    this.#flags = flags;
  }

  /** As `openWorkbench`: errors are printed and end the command. */
  async open(): Promise<Workbench> {
    return (this.#opened ??= await openWorkbench(this.#terminal, this.#flags));
  }

  /** Undefined where the files have errors. */
  async openQuietly(): Promise<Workbench | undefined> {
    const quiet = { ...this.#terminal, err: () => undefined };
    return (this.#opened ??= await openWorkbench(quiet, this.#flags).catch(() => undefined));
  }

  async close(): Promise<void> {
    await this.#opened?.close();
  }
}
