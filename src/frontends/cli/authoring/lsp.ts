import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_CONFIG_FILES } from '../../../engine/config/config.ts';
import { openProject } from '../../../authoring/workbench/workbench.ts';
import { runLanguageServer } from '../../lsp/lsp.ts';
import type { Cli } from '../command-line.ts';
import { type ConfigFlags, findConfigFile } from '../config-file.ts';

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
