/** Files that a name of a transform may have meant. */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { didYouMean } from '../../document/document.ts';

/** A file of this name outside the transforms folder: beside it, or in a folder beside it, such as that of mappings. */
export function moduleBeside(dir: string, module: string): string | undefined {
  const parent = path.dirname(dir);
  const name = path.basename(module);
  const folders = foldersIn(parent).filter((folder) => path.join(parent, folder) !== dir);
  return ['.', ...folders].map((folder) => path.join(parent, folder, name)).find((file) => existsSync(file));
}

function foldersIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.flatMap((entry) =>
      entry.isDirectory() && !/^(?:\.|node_modules$)/.test(entry.name) ? [entry.name] : [],
    );
  } catch {
    return [];
  }
}

/** The module that was probably meant: another ending, a near name, or the transforms folder written twice. */
export function suggestModule(dir: string, module: string): string | undefined {
  const steps = module.split('/').filter((step) => step !== '' && step !== '.' && step !== '..');
  const known = (name: string): boolean =>
    modulesIn(path.resolve(dir, path.dirname(name))).includes(path.basename(name));
  for (let from = 1; from < steps.length; from += 1) {
    const name = steps.slice(from).join('/');
    if (known(name)) return name;
  }
  const names = modulesIn(path.resolve(dir, path.dirname(module)));
  const wanted = path.basename(module);
  const stem = wanted.replace(/\.\w+$/, '');
  const near = names.find((name) => name.replace(/\.\w+$/, '') === stem) ?? didYouMean(wanted, names);
  return near === undefined ? undefined : path.posix.join(path.posix.dirname(module), near);
}

function modulesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /\.(?:ts|mts|js|mjs|cjs)$/.test(name));
  } catch {
    return [];
  }
}
