/** Transforms: files and imports that are not there, parts of Node and browsers, functions that return nothing. */
import path from 'node:path';
import { formatPlace, didYouMean } from '../../../base/document/document.ts';
import { say } from '../../../base/finding.ts';
import { NODE_STAND_INS, standInOf } from '../../../engine/sandbox/facts.ts';
import { hint, look, nearName, remedy } from '../rule.ts';
import { foundAt, misreadArgument } from '../transforms/argument.ts';
import { hintForGlobal, hintForImport } from '../vocabulary/node-parts.ts';
import { readdirSync } from 'node:fs';

const INTO_FOLDER = say`move the file into hooks.transformsDir: links are followed before this is decided`;

const FILES = [
  nearName(
    'TRANSFORM_NOT_FOUND',
    ({ ref: { module: from }, dir }) => {
      const to = suggestModule(dir, from);
      return to === undefined ? undefined : { from, to };
    },
    ({ to }) => say`did you mean ${JSON.stringify(to)}? the name is relative to hooks.transformsDir`,
  ),
  remedy(
    'TRANSFORM_NOT_FOUND',
    say`create it, or check the name: it is relative to hooks.transformsDir`,
    'guess',
  ),
  remedy('TRANSFORM_OUTSIDE', INTO_FOLDER),
  hint('TRANSFORM_FILE_TYPE', ['ending', 'certain'], ({ of }) =>
    of === 'import'
      ? 'put its content into a .ts or .json file'
      : 'compile, rename or rewrite it as TypeScript or JavaScript; a program of another language is a runner, kind: command',
  ),
  hint('TRANSFORM_TOO_LARGE', ['large-file', 'certain'], ({ of }) => {
    if (of === 'file') return 'keep large tables out of the transform';
    return of === 'import'
      ? 'keep large tables out of it: a transform with all it imports may have 1 MB'
      : 'import less, or keep large tables out of the transform';
  }),
  remedy(
    'TRANSFORM_LOADER_FAILED',
    say`check whether the code of the transform, too little memory or time, or missing permissions stop the loader, which is a Node.js process of its own`,
  ),
];

const asText = ({ to }: { readonly to: string }) => say`did you mean ${JSON.stringify(to)}?`;

const IMPORTS = [
  hint('TRANSFORM_IMPORT_REFUSED', ['package', 'likely'], ({ specifier, dir }) =>
    hintForImport(specifier, path.basename(dir)),
  ),
  nearName(
    'TRANSFORM_IMPORT_NOT_FOUND',
    ({ specifier: from, file }) => {
      const to = suggestModule(path.dirname(file), from);
      return to === undefined ? undefined : { from, to: to.startsWith('.') ? to : `./${to}` };
    },
    asText,
  ),
  remedy('TRANSFORM_IMPORT_NOT_FOUND', say`write the name with its ending, relative to this file`, 'guess'),
  remedy('TRANSFORM_IMPORT_OUTSIDE', INTO_FOLDER),
  hint('TRANSFORM_IMPORT_NAME', ['part-of-node', 'certain'], ({ id }) => {
    const standIn = id.startsWith('node:') ? standInOf(id) : undefined;
    return (
      standIn &&
      `choose one of the names that a transform has of ${id}: ${(NODE_STAND_INS[standIn] ?? []).join(', ')}`
    );
  }),
  hint('TRANSFORM_IMPORT_NAME', ['not-exported', 'guess'], ({ id, name }) =>
    name === 'default'
      ? `write import * as NAME in place of import NAME, or take the names that are meant, import { … } from './${id}': it has no default export`
      : 'export it there, or import a name that is exported',
  ),
  remedy('TRANSFORM_DYNAMIC_IMPORT', say`write a static import`),
  remedy('TRANSFORM_REQUIRE', say`write a static import`),
  remedy('TRANSFORM_TOP_LEVEL_AWAIT', say`move it into the function, which may be async`),
  remedy(
    'TRANSFORM_SYNTAX',
    say`correct the code: look for a missing or extra sign at and before this place`,
  ),
];

const RUNNING = [
  hint('TRANSFORM_MISSING_GLOBAL', ['global', 'certain'], ({ name }) => hintForGlobal(name)),
  hint('TRANSFORM_FORGETS', ['collection', 'likely'], ({ isMemory }) =>
    isMemory
      ? "to recognise repeats write dedupe: {key: '{{payload.id}}'} in the mapping, with the field that is the same in each repeat, and take this out"
      : 'to recognise repeats write dedupe in the mapping; to keep it in memory from call to call, write reuse: true in the transform',
  ),
  hint('TRANSFORM_ENV_MISSING', ['variable', 'certain'], ({ name, user }) => {
    if (user === undefined) return undefined;
    const known = Object.keys(user.env).map((key) => `${key}: …, `);
    const own = user.export === undefined ? '' : `, export: ${user.export}`;
    return `write the value itself into the mapping, at ${formatPlace(user.at)}: transform: {module: ${user.module}${own}, env: {${known.join('')}${name}: …}}; a transform never sees the environment of the service`;
  }),
  ...(['TRANSFORM_EXPORT_MISSING', 'TRANSFORM_NOT_A_FUNCTION'] as const).map((on) =>
    hint(on, ['function', 'likely'], ({ functions, module }) => {
      const [first] = functions;
      return first === undefined
        ? 'export a function: export default ({ payload }) => ({ message: payload.text })'
        : `write "export default" before the function that is meant, or name it in the mapping: transform: {module: ${module}, export: ${first}}; it exports ${functions.slice(0, 5).join(', ')}`;
    }),
  ),
  remedy('TRANSFORM_NOT_CHECKED', say`run sluice check again where the machine has less to do`),
  remedy(
    'TRANSFORM_TOP_LEVEL_FAILED',
    say`look at the place shown: in the sandbox the top level has no network, files, timers or process, and decorators are those of the language, whatever tsconfig.json says`,
  ),
  remedy(
    'TRANSFORM_HEAVY_TOP_LEVEL',
    say`move the work into the function where only some calls need it, or share state between calls with reuse: true`,
  ),
];

export const MODULES = [...FILES, ...IMPORTS, ...RUNNING];

export const MODULE_LOOKS = [
  look({
    on: 'module',
    codes: ['TRANSFORM_ARGUMENT'],
    find: (module) => foundAt(module, misreadArgument(module)),
  }),
];

/** The module that was probably meant: another ending, a near name, or the transforms folder written twice. */
function suggestModule(dir: string, module: string): string | undefined {
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
