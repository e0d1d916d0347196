/*
 * A draft is a file as it would be saved. Its folder is copied with the draft in place of the file, and loaded as the
 * service would load it; findings name the files as they are named in the real folder.
 */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, extname, join, relative } from 'node:path';
import { displayName, type Finding } from '../../base/document/document.ts';
import { askThread, startThread } from '../../base/timers/timers.ts';
import type { AuthorFolders, FoundFile } from './author-files.ts';
import type { LoadedWork } from './console-deps.ts';
import type { ReadDraft } from './draft-thread.ts';
import type { Judge } from './judge.ts';
import type { ShownFinding } from './protocol.ts';
import { type DraftFolder, shownFinding } from './shown-finding.ts';

const ENTRY = new URL(`draft-thread${extname(import.meta.url)}`, import.meta.url);
/** A mapping file of 100 KB takes 0.2 s in a thread that has read nothing before. */
const CPU_MS = 1_000;
const MEMORY_MB = 128;

export interface LoadedDraft extends LoadedWork {
  readonly shown: readonly ShownFinding[];
  /** What the type checker says of a transform; it takes a second or two. */
  readonly typeFindings: Promise<readonly ShownFinding[]>;
}

/** A file with the text it would have. */
export interface Draft {
  readonly file: FoundFile;
  readonly text: string;
  /** Fires when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** Holds the last draft that was loaded: judging it and comparing all requests with it ask for the same one. */
export class Drafts {
  readonly #judge: Judge;
  #turn: Promise<void> = Promise.resolve();
  #types: Promise<unknown> = Promise.resolve();
  #last: { readonly key: string; readonly loaded: Promise<LoadedDraft> } | undefined;

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  /** Loads it, one after the other: who types fast must not fill the machine with loaders. */
  load(folders: AuthorFolders, draft: Draft): Promise<LoadedDraft> {
    const key = `${draft.file.name}\0${draft.text}`;
    if (this.#last?.key === key) return this.#last.loaded;
    this.forget();
    const loaded = this.#turn.then(() => {
      draft.signal.throwIfAborted();
      return this.#load(folders, draft, key);
    });
    const last = { key, loaded };
    this.#last = last;
    this.#turn = loaded.then(
      () => undefined,
      () => {
        if (this.#last === last) this.#last = undefined;
      },
    );
    return loaded;
  }

  /** The other files have changed. */
  forget(): void {
    const last = this.#last;
    this.#last = undefined;
    void last?.loaded.then(
      (loaded) => loaded.release(),
      () => undefined,
    );
  }

  async #load(folders: AuthorFolders, { file, text }: Draft, key: string): Promise<LoadedDraft> {
    const folder = file.kind === 'mapping' ? folders.mappingsDir : folders.transformsDir;
    const root = await mkdtemp(join(tmpdir(), 'sluice-draft-'));
    const remove = (): Promise<void> => rm(root, { recursive: true, force: true });
    try {
      const shown = displayName(folder);
      const copy = join(root, shown);
      await copyWith({ file, text }, folder, copy);
      const { workshop } = this.#judge;
      const isMapping = file.kind === 'mapping';
      const broken = isMapping
        ? await findBroken(join(copy, relative(folder, file.path)), { root, shown })
        : [];
      if (broken.length > 0) {
        await remove();
        return {
          findings: [],
          shown: broken,
          typeFindings: Promise.resolve([]),
          release: () => undefined,
        };
      }
      const work = await workshop.load(
        isMapping ? { mappingsDir: copy, cwd: root } : { transformsDir: copy, cwd: root },
      );
      const named = (found: readonly Finding[]): readonly ShownFinding[] =>
        found.map((one) => shownFinding(one, { root, shown }));
      const hasTypes = !isMapping && work.generation !== undefined;
      const check = (): Promise<readonly ShownFinding[]> =>
        this.#last?.key === key
          ? workshop.checkTypes(copy, join(copy, relative(folder, file.path))).then(named)
          : Promise.resolve([NOT_CHECKED]);
      // One after the other, too: a compiler takes a processor and much memory.
      const turn = hasTypes ? this.#types : Promise.resolve();
      const typeFindings = turn.then(() => checkTypes(hasTypes ? check : undefined, remove));
      // Whoever does not ask for them does not want to hear of a failure either.
      const ended = typeFindings.catch(() => undefined);
      if (hasTypes) this.#types = ended;
      return { ...work, shown: named(work.findings), typeFindings };
    } catch (error) {
      await remove();
      throw error;
    }
  }
}

/**
 * What is wrong with the text of a mapping file itself. A thread reads it first, as a text that is broken, on purpose or
 * while somebody types, can cost far more than one that is not: what costs too much never reaches the service's own.
 */
async function findBroken(file: string, folder: DraftFolder): Promise<readonly ShownFinding[]> {
  const thread = await startThread(ENTRY, { name: 'draft', memoryMb: MEMORY_MB });
  if (thread === undefined) throw new Error('no thread can be started to read a draft in');
  try {
    const request: ReadDraft = { file, ...folder };
    return (await askThread<readonly ShownFinding[]>(thread, request, { cpuMs: CPU_MS })) ?? [TOO_COSTLY];
  } finally {
    await thread.terminate();
  }
}

const NOT_CHECKED: ShownFinding = {
  severity: 'warning',
  code: 'TRANSFORM_TYPES_NOT_CHECKED',
  message: 'the types of this draft were not checked: another draft, or a file that was saved, came first',
  hint: 'change it once more',
  from: 0,
  to: 0,
};

const TOO_COSTLY: ShownFinding = {
  severity: 'error',
  code: 'TOO_MANY_PARTS',
  message: `the file takes more than ${CPU_MS / 1000} s or ${MEMORY_MB} MB to read`,
  hint: 'undo the last change, or split the file into several',
  from: 0,
  to: 0,
};

/** Copies the folder of the file with the draft in its place. */
async function copyWith({ file, text }: Omit<Draft, 'signal'>, folder: string, copy: string): Promise<void> {
  await mkdir(dirname(copy), { recursive: true });
  await copyFolder(folder, copy, file.kind);
  const target = join(copy, relative(folder, file.path));
  await rm(target, { force: true });
  await writeFile(target, text);
}

/** Checks what there is to check, and removes the copy afterwards. */
async function checkTypes(
  check: (() => Promise<readonly ShownFinding[]>) | undefined,
  remove: () => Promise<void>,
): Promise<readonly ShownFinding[]> {
  try {
    return (await check?.()) ?? [];
  } finally {
    await remove();
  }
}

/** Links are followed, so that the copy holds what they lead to and nothing is written through one. */
function copyFolder(from: string, to: string, kind: FoundFile['kind']): Promise<void> {
  return cp(from, to, {
    recursive: true,
    dereference: true,
    filter: (path) =>
      path === from || (!/[/\\](?:\.[^/\\]*|node_modules)$/.test(path) && isWanted(path, kind)),
  });
}

/** A folder of mappings has no folders that count, and either may hold large files of other kinds. */
function isWanted(path: string, kind: FoundFile['kind']): boolean {
  const isNamed = /\.\w+$/.test(path);
  return kind === 'mapping'
    ? /\.(?:ya?ml|json)$/i.test(path)
    : !isNamed || /\.(?:[mc]?[jt]s|json|map)$/i.test(path);
}
