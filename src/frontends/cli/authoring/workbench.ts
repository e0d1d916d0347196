import type { Finding } from '../../../base/document/document.ts';
import type { Generation } from '../../../service/generation/generation.ts';
import { Workbench, type WorkbenchOptions } from '../../../authoring/workbench/workbench.ts';
import { type ConfigFlags, findConfigFile, printFindings } from '../config-file.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { pluginGate } from '../setup/trust.ts';

/** A generation for authors. It serves nothing, and is closed when the command ends. */
export interface OpenWorkbench extends AsyncDisposable {
  readonly generation: Generation;
  readonly findings: readonly Finding[];
  readonly bench: Workbench;
  /** Loads again. On errors it prints them, keeps the old generation and resolves to false. */
  reload(): Promise<boolean>;
}

export type BenchOptions = Partial<WorkbenchOptions> & { readonly withoutTransforms?: boolean };

/** Makes the loader of a command's files. Plugins are loaded where this machine allowed them. */
export function benchOf(terminal: Terminal, file: string, options: BenchOptions = {}): Workbench {
  return new Workbench(file, { env: terminal.env, mayLoadPlugins: pluginGate(terminal), ...options });
}

/** Loads the configuration's mappings and transforms; errors are printed and end the command. */
export async function openWorkbench(
  terminal: Terminal,
  flags: ConfigFlags,
  { withoutTransforms = false, ...options }: BenchOptions = {},
): Promise<OpenWorkbench> {
  const bench = benchOf(terminal, findConfigFile(terminal, flags), { workers: 1, ...options });
  const load = () => bench.load({ withoutTransforms });
  const { generation, findings } = await load();
  if (generation === undefined) {
    await bench.stop();
    throw hasErrors(terminal, findings);
  }
  const open = { generation, findings, bench };
  return Object.assign(open, {
    [Symbol.asyncDispose]: () => bench.stop(),
    reload: async () => {
      const { generation: next, findings: found } = await load();
      if (next === undefined) {
        printFindings(terminal, found);
        return false;
      }
      open.generation.transforms.release();
      open.generation = next;
      return true;
    },
  });
}

/** Prints what is wrong in the files, for a command that cannot do without them. */
export function hasErrors(terminal: Terminal, findings: readonly Finding[]): CliError {
  printFindings(terminal, findings);
  return new CliError('the configuration, a mapping or a transform has errors; nothing was run');
}
