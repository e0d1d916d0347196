import path from 'node:path';
import { formatPlace, didYouMean, replaceWithin } from '../../../base/document/document.ts';
import { say } from '../../../base/finding.ts';
import { NODE_STAND_INS, standInOf, type SandboxFacts } from '../../../engine/sandbox/facts.ts';
import { oneOf, type Rules } from '../rule.ts';
import { hintForGlobal, hintForImport } from '../vocabulary/node-parts.ts';
import { readdirSync } from 'node:fs';

export const MODULES: Rules = {
  TRANSFORM_NOT_FOUND: [
    ({ ref: { module: from }, dir }, { at }) => {
      const to = suggestModule(dir, from);
      if (to === undefined) return undefined;
      const hint = say`did you mean ${JSON.stringify(to)}? the name is relative to hooks.transformsDir`;
      return { hint, edit: at && replaceWithin(at, from, to) };
    },
  ],
  TRANSFORM_FILE_TYPE: [
    ({ of }) =>
      of === 'import'
        ? 'put its content into a .ts or .json file'
        : 'compile, rename or rewrite it as TypeScript or JavaScript; a program of another language is a runner, kind: command',
  ],
  TRANSFORM_TOO_LARGE: [
    ({ of }) => {
      if (of === 'file') return 'keep large tables out of the transform';
      return of === 'import'
        ? 'keep large tables out of it: a transform with all it imports may have 1 MB'
        : 'import less, or keep large tables out of the transform';
    },
  ],
  TRANSFORM_IMPORT_REFUSED: [({ specifier, dir }) => hintForImport(specifier, path.basename(dir))],
  TRANSFORM_IMPORT_NOT_FOUND: [
    ({ specifier: from, file }, { at }) => {
      const near = suggestModule(path.dirname(file), from);
      if (near === undefined) return undefined;
      const to = near.startsWith('.') ? near : `./${near}`;
      return { hint: say`did you mean ${JSON.stringify(to)}?`, edit: at && replaceWithin(at, from, to) };
    },
  ],
  TRANSFORM_IMPORT_NAME: [
    ({ id, name }) => {
      const standIn = id.startsWith('node:') ? standInOf(id) : undefined;
      if (standIn !== undefined)
        return oneOf(`names that a transform has of ${id}`, NODE_STAND_INS[standIn] ?? []);
      return name === 'default'
        ? `write import * as NAME in place of import NAME, or take the names that are meant, import { … } from './${id}': it has no default export`
        : 'export it there, or import a name that is exported';
    },
  ],
  TRANSFORM_MISSING_GLOBAL: [({ name }) => hintForGlobal(name)],
  TRANSFORM_ENV_MISSING: [
    ({ name, user }) => {
      if (user === undefined) return undefined;
      const known = Object.keys(user.env).map((key) => `${key}: …, `);
      const own = user.export === undefined ? '' : `, export: ${user.export}`;
      return `write the value itself into the mapping, at ${formatPlace(user.at)}: transform: {module: ${user.module}${own}, env: {${known.join('')}${name}: …}}; a transform never sees the environment of the service`;
    },
  ],
  TRANSFORM_EXPORT_MISSING: [toExport],
  TRANSFORM_NOT_A_FUNCTION: [toExport],
};

function toExport({ functions, module }: SandboxFacts['TRANSFORM_NOT_A_FUNCTION']): string {
  const [first] = functions;
  return first === undefined
    ? 'export a function: export default ({ payload }) => ({ message: payload.text })'
    : `write "export default" before the function that is meant, or name it in the mapping: transform: {module: ${module}, export: ${first}}; it exports ${functions.slice(0, 5).join(', ')}`;
}

/** Suggests another ending or a near name in the same folder. */
function suggestModule(dir: string, module: string): string | undefined {
  const wanted = path.basename(module);
  // A folder may have the very name.
  const names = modulesIn(path.resolve(dir, path.dirname(module))).filter((name) => name !== wanted);
  const near = names.find((name) => path.parse(name).name === path.parse(wanted).name);
  const found = near ?? didYouMean(wanted, names);
  return found && path.posix.join(path.posix.dirname(module), found);
}

function modulesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /\.(?:ts|mts|js|mjs|cjs)$/.test(name));
  } catch {
    return [];
  }
}
