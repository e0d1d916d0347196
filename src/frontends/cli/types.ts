import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { kindsOfPath, payloadTypes } from '../../authoring/advice/samples.ts';
import { type Generation, loadGeneration } from '../../service/generation/generation.ts';
import { findSamples, sampleFolders } from '../../authoring/golden/golden.ts';
import { Sandbox } from '../../engine/sandbox/sandbox.ts';
import type { Cli } from './command-line.ts';
import { type ConfigFlags, findConfigFile, printFindings } from './config-file.ts';
import { transformRules } from './init.ts';
import { advise } from './lazy-advice.ts';
import { CliError, type Terminal } from './terminal.ts';
import { writeFiles } from './write-plan.ts';

export interface TypesFlags extends ConfigFlags {
  readonly out?: string;
}

/** The mappings of a configuration and the samples beside them. */
export async function loadSamples(terminal: Terminal, flags: ConfigFlags) {
  // A transform may wait for its types: none is loaded.
  const options = {
    needSecrets: false,
    dev: true,
    sandbox: new Sandbox({ spare: 0 }),
    withoutTransforms: true,
  };
  const file = findConfigFile(terminal, flags);
  const { generation, findings } = await loadGeneration(file, { ...options, env: terminal.env, advise });
  if (generation === undefined) {
    printFindings(terminal, findings);
    throw new CliError('the configuration or a mapping has errors');
  }
  const { config, table } = generation;
  const { samples } = await findSamples(sampleFolders(config), table);
  return { table, samples };
}

/** Prints the TypeScript type of what is sent to a hook name, by its samples, or writes it into a file. */
export async function types({ terminal }: Cli, hookName: string, flags: TypesFlags): Promise<void> {
  const { table, samples } = await loadSamples(terminal, flags);
  const kinds = kindsOfPath(table, hookName, samples);
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

/** Writes the type of what is sent to a hook name beside the transforms, with rules for editors; what is there is left. */
export async function writeTypes(
  terminal: Terminal,
  hookName: string,
  { config, table }: Pick<Generation, 'config' | 'table'>,
): Promise<void> {
  const { transformsDir: dir } = config.settings.hooks;
  const { samples } = await findSamples(sampleFolders(config), table);
  const kinds = kindsOfPath(table, hookName, samples);
  const files = [
    { path: join(dir, `${hookName}.types.ts`), text: payloadTypes(hookName, kinds) },
    ...transformRules(dir),
  ].filter(({ path }) => kinds.length > 0 && !existsSync(path));
  const [written] = await writeFiles(terminal, files);
  if (written !== undefined)
    terminal.out(`  (for transforms: "sluice types ${hookName}" makes the type of its payload from samples)`);
}
