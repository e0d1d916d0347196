import { sep } from 'node:path';
import { watch } from 'chokidar';
import { displayName } from '../document/document.ts';
import { findCases, type FoundCases, type RunReport } from '../golden/golden.ts';
import type { Terminal } from './terminal.ts';
import type { Workbench } from './workbench.ts';

export interface WatchOptions {
  /** Folder of the cases, absolute. */
  readonly dir: string;
  readonly filters: readonly string[];
  /** Of the run before. */
  readonly report: RunReport;
  run(found: FoundCases): Promise<RunReport>;
  show(report: RunReport, verbose: boolean): Promise<void>;
}

/** Editors write a file in several steps; all changes within this time are one. */
const QUIET_MS = 100;

/**
 * Runs again what a change affects until the command is ended: the cases that read a changed file, or all of them
 * where a mapping, a transform or the configuration changed. Resolves to the last report.
 */
export async function watchCases(
  terminal: Terminal,
  workbench: Workbench,
  options: WatchOptions,
): Promise<RunReport> {
  let { report } = options;
  const changed = new Set<string>();
  /** Expectations the run itself wrote: their change is no news. */
  const own = new Set<string>();
  const rerun = async (): Promise<void> => {
    const files = [...changed];
    changed.clear();
    if (files.length === 0) return;
    terminal.err(`\nchanged: ${files.map((file) => displayName(file, terminal.cwd)).join(', ')}`);
    const onlyCases = files.every((file) => file.startsWith(options.dir + sep));
    if (!onlyCases && !(await workbench.reload())) return;
    watcher.add([...workbench.watchedPaths()]);
    const found = await findCases(options.dir, options.filters);
    const affected = onlyCases
      ? found.cases.filter((each) => each.files.some((file) => files.includes(file)))
      : found.cases;
    report = await options.run({ ...found, cases: affected });
    for (const { status, case: each } of report.results) {
      if (status === 'written' || status === 'updated') own.add(each.expectedFile);
    }
    await options.show(report, onlyCases);
  };
  const watcher = watch([options.dir, ...workbench.watchedPaths()], { ignoreInitial: true });
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  watcher.on('all', (_event, file) => {
    if (own.delete(file)) return;
    changed.add(file);
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(rerun).catch((error: unknown) => {
        terminal.err(error instanceof Error ? error.message : String(error));
      });
    }, QUIET_MS);
  });
  await new Promise<void>((ready) => watcher.once('ready', () => ready()));
  terminal.err('watching for changes; Ctrl-C ends');
  await terminal.untilInterrupted();
  clearTimeout(timer);
  await watcher.close();
  await running;
  return report;
}
