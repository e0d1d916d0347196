import { openProject } from '../../../authoring/workbench/workbench.ts';
import { runLanguageServer } from '../../lsp/lsp.ts';
import type { Cli } from '../command-line.ts';
import { type ConfigFlags, configIn, findConfigFile } from '../config-file.ts';

/** Speaks the Language Server Protocol on standard input and output, until the editor ends it. */
export async function lsp({ terminal }: Cli, flags: ConfigFlags): Promise<void> {
  const named = flags.config === undefined ? undefined : findConfigFile(terminal, flags);
  await runLanguageServer({
    input: process.stdin,
    output: process.stdout,
    openProject: (folder) => {
      const file = named ?? configIn(folder);
      return file === undefined ? undefined : openProject(file, terminal.env);
    },
  });
}
