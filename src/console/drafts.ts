/*
 * A draft is a file as it would be saved. Its folder is copied with the draft in place of the file, and loaded as the
 * service would load it; findings name the files as they are named in the real folder.
 */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { displayName, formatPlace, type Diagnostic } from '../document/document.ts';
import type { AuthorFolders, FoundFile } from './author-files.ts';
import type { LoadedWork } from './console-deps.ts';
import type { Judge } from './judge.ts';
import type { Finding } from './protocol.ts';

export interface LoadedDraft extends LoadedWork {
  readonly findings: readonly Finding[];
  /** What the type checker says of a transform; it takes a second or two. */
  readonly typeFindings: Promise<readonly Finding[]>;
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
      return this.#load(folders, draft);
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

  async #load(folders: AuthorFolders, { file, text }: Draft): Promise<LoadedDraft> {
    const folder = file.kind === 'mapping' ? folders.mappingsDir : folders.transformsDir;
    const root = await mkdtemp(join(tmpdir(), 'sluice-draft-'));
    const remove = (): Promise<void> => rm(root, { recursive: true, force: true });
    try {
      const shown = displayName(folder);
      const copy = join(root, shown);
      await copyWith({ file, text }, folder, copy);
      const { workshop } = this.#judge;
      const isMapping = file.kind === 'mapping';
      const work = await workshop.load(
        isMapping ? { mappingsDir: copy, cwd: root } : { transformsDir: copy, cwd: root },
      );
      const named = (found: readonly Diagnostic[]): readonly Finding[] =>
        found.map((one) => toFinding(one, (name) => nameOf(name, { root, shown })));
      const hasTypes = !isMapping && work.generation !== undefined;
      const check = hasTypes ? () => workshop.checkTypes(copy) : undefined;
      const typeFindings = checkTypes(check, remove).then(named);
      // Whoever does not ask for them does not want to hear of a failure either.
      typeFindings.catch(() => undefined);
      return { ...work, findings: named(work.diagnostics), typeFindings };
    } catch (error) {
      await remove();
      throw error;
    }
  }
}

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
  check: (() => Promise<readonly Diagnostic[]>) | undefined,
  remove: () => Promise<void>,
): Promise<readonly Diagnostic[]> {
  try {
    return (await check?.()) ?? [];
  } finally {
    await remove();
  }
}

/** A file of the copy by the name it has in the real folder. */
function nameOf(name: string, { root, shown }: { readonly root: string; readonly shown: string }): string {
  if (isAbsolute(shown) && `/${name}`.startsWith(shown)) return `/${name}`;
  return name.replace(`${root}/`, '');
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

function toFinding(
  { severity, code, message, hint, at, edit }: Diagnostic,
  nameOf: (name: string) => string,
): Finding {
  return {
    severity,
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(at === undefined ? {} : { file: nameOf(at.source.file), place: nameOf(formatPlace(at)) }),
    from: at?.start ?? 0,
    to: at?.end ?? 0,
    ...(edit === undefined ? {} : { edit: { from: edit.at.start, to: edit.at.end, text: edit.text } }),
  };
}
