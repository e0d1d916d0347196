import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { kindsOfPath, payloadTypes } from '../advice/samples.ts';
import { loadGeneration } from '../generation/generation.ts';
import { findSamples, sampleFolders } from '../golden/golden.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import type { Cli } from './command-line.ts';
import { type ConfigFlags, findConfigFile, printFindings } from './config-file.ts';
import { advise } from './lazy-advice.ts';
import { CliError } from './terminal.ts';

export interface TypesFlags extends ConfigFlags {
  readonly out?: string;
}

/** Prints the TypeScript type of what is sent to a hook name, by its samples, or writes it into a file. */
export async function types({ terminal }: Cli, hookName: string, flags: TypesFlags): Promise<void> {
  // A transform may wait for its types: none is loaded.
  const options = {
    needSecrets: false,
    dev: true,
    sandbox: new Sandbox({ spare: 0 }),
    withoutTransforms: true,
  };
  const file = findConfigFile(terminal, flags);
  const { generation, diagnostics } = await loadGeneration(file, { ...options, env: terminal.env, advise });
  if (generation === undefined) {
    printFindings(terminal, diagnostics);
    throw new CliError('the configuration or a mapping has errors');
  }
  const { config, table } = generation;
  const { samples } = await findSamples(sampleFolders(config), table);
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
