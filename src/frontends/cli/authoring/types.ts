import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { kindsOfPath, payloadTypes } from '../../../authoring/advice/samples.ts';
import type { Generation } from '../../../service/generation/generation.ts';
import { findSamples, sampleFolders } from '../../../authoring/golden/golden.ts';
import type { Cli } from '../command-line.ts';
import type { ConfigFlags } from '../config-file.ts';
import { findOwnPackage } from '../../../base/own-package.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { openWorkbench } from './workbench.ts';
import { writeFiles } from '../setup/write-plan.ts';

export interface TypesFlags extends ConfigFlags {
  readonly out?: string;
}

async function findKinds(hookName: string, { config, table }: Pick<Generation, 'config' | 'table'>) {
  const { samples } = await findSamples(sampleFolders(config), table);
  return kindsOfPath(table, hookName, samples);
}

/** Prints the TypeScript type of what is sent to a hook name, by its samples, or writes it into a file. */
export async function types({ terminal }: Cli, hookName: string, flags: TypesFlags): Promise<void> {
  // A transform may need the types that this command writes, so none is loaded.
  await using workbench = await openWorkbench(terminal, flags, { withoutTransforms: true });
  const kinds = await findKinds(hookName, workbench.generation);
  if (kinds.length === 0)
    throw new CliError(
      `there is no sample of ${hookName}: put payloads into samples/${hookName}/, beside the folder of mappings`,
    );
  const text = payloadTypes(hookName, kinds);
  if (flags.out === undefined) return terminal.out(text);
  const out = resolve(terminal.cwd, flags.out);
  await mkdir(dirname(out), { recursive: true });
  await writeFile(out, text);
}

/**
 * Writes the type of what is sent to a hook name beside the transforms, with rules for editors. Existing files stay.
 */
export async function writeTypes(
  terminal: Terminal,
  hookName: string,
  generation: Pick<Generation, 'config' | 'table'>,
): Promise<void> {
  const { transformsDir: dir } = generation.config.settings.hooks;
  const kinds = await findKinds(hookName, generation);
  const files = [
    { path: join(dir, `${hookName}.types.ts`), text: payloadTypes(hookName, kinds) },
    ...transformRules(dir),
  ].filter(({ path }) => kinds.length > 0 && !existsSync(path));
  const [written] = await writeFiles(terminal, files);
  if (written !== undefined)
    terminal.out(`  (for transforms: "sluice types ${hookName}" makes the type of its payload from samples)`);
}

const AUTHOR_TYPES = ['../../../engine/sandbox/author.d.ts', '../../../engine/sandbox/author.ts']
  .map((name) => fileURLToPath(new URL(name, import.meta.url)))
  .find((file) => existsSync(file));

/**
 * Writes rules for editors and `tsc` in a folder of transforms, as `sluice check` has them. Where the
 * project has no `sluice` of its own, its types are written beside them, because a path to this
 * installation would be wrong on every other machine.
 */
function transformRules(folder: string): readonly { readonly path: string; readonly text: string }[] {
  const isOwn = findOwnPackage(folder) !== undefined || AUTHOR_TYPES === undefined;
  const compilerOptions = {
    target: 'es2024',
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    resolveJsonModule: true,
    noEmit: true,
    strict: true,
    noImplicitAny: false,
    skipLibCheck: true,
    types: [],
    ...(isOwn ? {} : { paths: { sluice: ['./sluice.types.ts'] } }),
  };
  return [
    { path: join(folder, 'tsconfig.json'), text: `${JSON.stringify({ compilerOptions }, null, 2)}\n` },
    ...(isOwn ? [] : [{ path: join(folder, 'sluice.types.ts'), text: readFileSync(AUTHOR_TYPES, 'utf8') }]),
  ];
}
