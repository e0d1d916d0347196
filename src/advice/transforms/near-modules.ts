/** Files that a name of a transform may have meant. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { didYouMean } from '../../document/document.ts';

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
