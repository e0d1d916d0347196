import { type Finding } from '../../base/document/document.ts';
import {
  checkTypes,
  loadGeneration,
  type Generation,
  type GenerationOptions,
  type LoadedGeneration,
} from '../../service/generation/generation.ts';
import { Sandbox } from '../../engine/sandbox/sandbox.ts';
import { type ConfigFlags, findConfigFile, printFindings } from './config-file.ts';
import { CliError, type Terminal } from './terminal.ts';
import { advise } from './lazy-advice.ts';
import { pluginGate } from './trust.ts';

/** A generation loaded for authors: nothing served, closed when the command ends. */
export interface Workbench {
  readonly generation: Generation;
  readonly findings: readonly Finding[];
  /** Files and folders whose change makes another generation. */
  watchedPaths(): readonly string[];
  /** Loads again; on errors prints them, keeps the old generation and resolves to false. */
  reload(): Promise<boolean>;
  /** What the type checker has against the transforms; that nothing could be checked is left to `sluice check`. */
  findTypeErrors(): Promise<readonly Finding[]>;
  close(): Promise<void>;
}

export interface WorkbenchOptions {
  /** True for commands that judge or make proofs. */
  readonly needSecrets?: boolean;
  readonly coverage?: boolean;
  /** Default: where this machine said yes to them. */
  readonly mayLoadPlugins?: NonNullable<GenerationOptions['mayLoadPlugins']>;
  /** Processes that run transforms; default 1, more where calls go on at the same time. */
  readonly workers?: number;
}

/** Loads the configuration's mappings and transforms; errors are printed and end the command. */
export async function openWorkbench(
  terminal: Terminal,
  flags: ConfigFlags,
  options: WorkbenchOptions = {},
): Promise<Workbench> {
  const file = findConfigFile(terminal, flags);
  const {
    needSecrets = false,
    coverage = false,
    workers = 1,
    mayLoadPlugins = pluginGate(terminal),
  } = options;
  const sandbox = new Sandbox({ workers, spare: 0 });
  const load = (): Promise<LoadedGeneration> =>
    loadAloud(terminal, file, { needSecrets, coverage, sandbox, mayLoadPlugins });
  const { generation, findings } = await load();
  if (generation !== undefined)
    return workbenchOf(generation, { findings, sandbox, load, file, env: terminal.env });
  await sandbox.stop();
  throw new CliError('the configuration, a mapping or a transform has errors; nothing was run');
}

/** Prints what is found where there are errors. */
async function loadAloud(
  terminal: Terminal,
  file: string,
  options: Omit<GenerationOptions, 'env' | 'dev'>,
): Promise<LoadedGeneration> {
  const loaded = await loadGeneration(file, { ...options, env: terminal.env, dev: true, advise });
  if (loaded.generation === undefined) printFindings(terminal, loaded.findings);
  return loaded;
}

/** Of a generation that is loaded: what the type checker has against its transforms. */
export async function findTypeErrors(
  generation: Generation,
  place: Parameters<typeof checkTypes>[1],
): Promise<readonly Finding[]> {
  return (await checkTypes(generation, place)).filter(({ severity }) => severity === 'error');
}

interface Tools extends Pick<Workbench, 'findings'> {
  readonly sandbox: Sandbox;
  readonly load: () => Promise<LoadedGeneration>;
  readonly file: string;
  readonly env: GenerationOptions['env'];
}

function workbenchOf(first: Generation, { findings, sandbox, load, ...place }: Tools): Workbench {
  let generation = first;
  return {
    get generation() {
      return generation;
    },
    findings,
    watchedPaths: () => generation.watchedPaths,
    reload: async () => {
      const next = await load();
      if (next.generation === undefined) return false;
      generation.transforms.release();
      generation = next.generation;
      return true;
    },
    findTypeErrors: () => findTypeErrors(generation, place),
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
