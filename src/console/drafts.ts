/*
 * A draft is a file as it would be saved. Its folder is copied with the draft in place of the file, and loaded as the
 * service would load it; findings name the files as they are named in the real folder.
 */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { displayName, formatPlace, type Diagnostic } from '../document/document.ts';
import type { AuthorFolders, FoundFile } from './author-files.ts';
import type { DraftFolders, LoadedWork } from './console-deps.ts';
import type { Judge } from './judge.ts';
import type { Finding } from './protocol.ts';

export interface LoadedDraft extends LoadedWork {
  readonly findings: readonly Finding[];
}

/** Holds the last draft that was loaded: judging it and comparing all requests with it ask for the same one. */
export class Drafts {
  readonly #judge: Judge;
  #last: { readonly key: string; readonly loaded: Promise<LoadedDraft> } | undefined;

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  load(folders: AuthorFolders, file: FoundFile, text: string): Promise<LoadedDraft> {
    const key = `${file.name}\0${text}`;
    if (this.#last?.key === key) return this.#last.loaded;
    this.forget();
    const loaded = this.#load(folders, file, text);
    this.#last = { key, loaded };
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

  async #load(folders: AuthorFolders, file: FoundFile, text: string): Promise<LoadedDraft> {
    const folder = file.kind === 'mapping' ? folders.mappingsDir : folders.transformsDir;
    const root = await mkdtemp(join(tmpdir(), 'sluice-draft-'));
    try {
      const shown = displayName(folder);
      const copy = join(root, shown);
      await mkdir(dirname(copy), { recursive: true });
      await copyFolder(folder, copy, file.kind);
      const target = join(copy, relative(folder, file.path));
      await rm(target, { force: true });
      await writeFile(target, text);
      const stands: DraftFolders =
        file.kind === 'mapping' ? { mappingsDir: copy, cwd: root } : { transformsDir: copy, cwd: root };
      const work = await this.#judge.workshop.load(stands);
      const types =
        file.kind === 'transform' && work.generation !== undefined
          ? await this.#judge.workshop.checkTypes(copy)
          : [];
      const nameOf = (name: string): string =>
        isAbsolute(shown) && `/${name}`.startsWith(shown) ? `/${name}` : name.replace(`${root}/`, '');
      return { ...work, findings: [...work.diagnostics, ...types].map((found) => toFinding(found, nameOf)) };
    } finally {
      await rm(root, { recursive: true, force: true });
    }
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
