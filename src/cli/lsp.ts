import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_CONFIG_FILES } from '../config/config.ts';
import { type Generation, loadGeneration } from '../generation/generation.ts';
import { type Project, runLanguageServer } from '../lsp/lsp.ts';
import { findSamples, samplesSay, sampleFolders } from '../golden/golden.ts';
import { byWeight } from '../document/document.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import type { Cli } from './command-line.ts';
import { type ConfigFlags, findConfigFile } from './config-file.ts';
import { advise } from './lazy-advice.ts';

/** Speaks the Language Server Protocol on standard input and output, until the editor ends it. */
export async function lsp({ terminal }: Cli, flags: ConfigFlags): Promise<void> {
  const named = flags.config === undefined ? undefined : findConfigFile(terminal, flags);
  await runLanguageServer({
    input: process.stdin,
    output: process.stdout,
    openProject: (folder) => {
      const found = DEFAULT_CONFIG_FILES.map((name) => join(folder, name)).find((file) => existsSync(file));
      const file = named ?? found;
      return file === undefined ? undefined : openProject(file, terminal.env);
    },
  });
}

/** Transforms are taken from before where mappings name the same ones. */
export function openProject(configFile: string, env: NodeJS.ProcessEnv): Project {
  const sandbox = new Sandbox({ spare: 0 });
  const options = { env, needSecrets: false, dev: true, sandbox, advise };
  let base: Generation | undefined;
  let samples: Awaited<ReturnType<typeof findSamples>> | undefined;
  return {
    configFile,
    load: async (open, isFresh) => {
      const reuse = base === undefined || isFresh ? {} : { reuse: base };
      const { generation, diagnostics } = await loadGeneration(configFile, { ...options, open, ...reuse });
      if (generation !== undefined) {
        if (base?.transforms !== generation.transforms) base?.transforms.release();
        base = generation;
      }
      if (base !== undefined && (isFresh || samples === undefined))
        samples = await findSamples(sampleFolders(base.config), base.table);
      const told = samples && generation && (await samplesSay(samples, generation));
      const { transformsDir } = base?.config.settings.hooks ?? {};
      return {
        diagnostics: byWeight([...diagnostics, ...(told?.diagnostics ?? [])]),
        samples: samples?.samples ?? [],
        mappings: base?.table.mappings ?? [],
        ...(transformsDir === undefined ? {} : { transformsDir }),
      };
    },
    close: () => sandbox.stop(),
  };
}
