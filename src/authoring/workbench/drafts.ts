/**
 * Loads a draft, which is a file as it would be saved, as the service would load it. The text of a mapping
 * file replaces the file. Other programs read a transform, so its folder is copied with the draft in place
 * of the file, and findings name the files of the real folder.
 */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { defined } from '../../base/json.ts';
import { displayName, type Finding, readDocument } from '../../base/document/document.ts';
import { advise } from '../advice/advice.ts';
import type { AuthorFolders, FoundFile } from './author-files.ts';
import type { Judge } from './judge.ts';
import { type LoadedFiles, workOf } from './load.ts';

/**
 * Limits the thread that reads a draft: a broken text can cost far more than a good one. A mapping file of
 * 100 KB takes 0.2 s in a thread that has read nothing before.
 */
const LIMITS = { here: 0, cpuMs: 1_000, memoryMb: 128 };

export interface FileDraft {
  /** The id of what is live, with which the other files change; absent where nothing is. */
  readonly generation?: string;
  readonly file: FoundFile;
  readonly text: string;
  /** Aborts when nobody waits for the draft any more. */
  readonly signal: AbortSignal;
}

/** Keeps the last draft that was loaded, because judging it and comparing all requests with it ask for the same one. */
export class Drafts {
  readonly #judge: Judge;
  #turn: Promise<void> = Promise.resolve();
  #last: { readonly key: string; readonly loaded: Promise<LoadedFiles> } | undefined;

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  /** Loads drafts one after the other: someone who types fast must not fill the machine with loaders. */
  load(folders: AuthorFolders, draft: FileDraft): Promise<LoadedFiles> {
    const key = [draft.generation, draft.file.name, draft.text].join('\0');
    if (this.#last?.key === key) return this.#last.loaded;
    this.forget();
    const loaded = this.#turn.then(() => {
      draft.signal.throwIfAborted();
      return draft.file.kind === 'mapping'
        ? this.#loadMapping(draft)
        : this.#loadTransform(folders.transformsDir, draft);
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

  /** Forgets the draft, because the other files have changed. */
  forget(): void {
    const last = this.#last;
    this.#last = undefined;
    void last?.loaded.then(
      (loaded) => loaded.release(),
      () => undefined,
    );
  }

  /** A broken text goes no further. The transforms are those of the files as they are. */
  async #loadMapping({ file: { path }, text }: FileDraft): Promise<LoadedFiles> {
    const open = { texts: new Map([[path, text]]), parsed: new Map() };
    const { findings } = await readDocument(path, { open, limits: LIMITS });
    const errors = findings.filter(({ severity }) => severity === 'error');
    if (errors.length > 0) return workOf({ findings: advise(errors), ignored: [] });
    const { generation: reuse } = await this.#judge.base();
    return this.#judge.bench.load({ open, ...defined({ reuse }) });
  }

  async #loadTransform(folder: string, { file, text }: FileDraft): Promise<LoadedFiles> {
    const root = await mkdtemp(join(tmpdir(), 'sluice-draft-'));
    try {
      const dir = join(root, displayName(folder));
      const draft = join(dir, relative(folder, file.path));
      await copyFolder(folder, dir);
      await rm(draft, { force: true });
      await writeFile(draft, text);
      const work = await this.#judge.bench.load({ folders: { transformsDir: dir, cwd: root } });
      return { ...work, findings: work.findings.map((one) => inFolder(one, { root, dir, folder })) };
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  }
}

function inFolder(
  finding: Finding,
  { root, dir, folder }: { readonly root: string; readonly dir: string; readonly folder: string },
): Finding {
  const { at } = finding;
  const path = at === undefined ? '' : resolve(root, at.source.file);
  if (at === undefined || !path.startsWith(dir)) return finding;
  const file = displayName(join(folder, relative(dir, path)));
  return { ...finding, at: { ...at, source: { ...at.source, file } } };
}

/** Links are followed, so that the copy holds their content and nothing is written through one. */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await cp(from, to, {
    recursive: true,
    dereference: true,
    filter: (path) => path === from || (!/[/\\](?:\.[^/\\]*|node_modules)$/.test(path) && isWanted(path)),
  });
}

/** A folder may hold large files of other kinds. */
const isWanted = (path: string): boolean => !/\.\w+$/.test(path) || /\.(?:[mc]?[jt]s|json|map)$/i.test(path);
