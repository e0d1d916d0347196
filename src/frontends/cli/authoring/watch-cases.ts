import { once } from 'node:events';
import { sep } from 'node:path';
import { watch } from 'chokidar';
import { messageOf } from '../../../base/errors.ts';
import { displayName } from '../../../base/document/document.ts';
import {
  findCases,
  type FoundCases,
  type GoldenCase,
  type RunReport,
} from '../../../authoring/golden/golden.ts';
import { debounce } from '../running/debounce.ts';
import type { Terminal } from '../terminal.ts';
import type { OpenWorkbench } from './workbench.ts';

interface WatchOptions {
  /** The absolute folder of the cases. */
  readonly dir: string;
  readonly filters: readonly string[];
  readonly report: RunReport;
  run(found: FoundCases): Promise<RunReport>;
  show(report: RunReport, verbose: boolean): Promise<unknown>;
}

/** Editors write a file in several steps, so all changes within this time are one. */
const QUIET_MS = 100;

/**
 * Runs again what a change affects until the command is ended: the cases that read a changed file, or all
 * of them where a mapping, a transform or the configuration changed. Resolves to the last report.
 */
export async function watchCases(
  terminal: Terminal,
  workbench: OpenWorkbench,
  { dir, filters, run, show, ...before }: WatchOptions,
): Promise<RunReport> {
  let { report } = before;
  const changed = new Set<string>();
  /** Expectations that a run itself wrote: their change is no news. */
  const own = new Set<string>();
  const watcher = watch([dir, ...workbench.generation.watchedPaths], { ignoreInitial: true });
  const runAffected = async (files: readonly string[]): Promise<void> => {
    terminal.err(`\nchanged: ${files.map((file) => displayName(file, terminal.cwd)).join(', ')}`);
    const onlyCases = files.every((file) => file.startsWith(dir + sep));
    if (!onlyCases && !(await workbench.reload())) return;
    watcher.add([...workbench.generation.watchedPaths]);
    const found = await findCases(dir, filters);
    const isAffected = (each: GoldenCase): boolean =>
      !onlyCases || each.files.some((file) => files.includes(file));
    report = await run({ ...found, cases: found.cases.filter(isAffected) });
    for (const { status, case: each } of report.results)
      if (status === 'written' || status === 'updated') own.add(each.expectedFile);
    await show(report, onlyCases);
  };
  const telling = debounce(QUIET_MS, async () => {
    const files = [...changed];
    changed.clear();
    if (files.length > 0) await runAffected(files).catch((error) => terminal.err(messageOf(error)));
  });
  watcher.on('all', (_event, file) => {
    if (own.delete(file)) return;
    changed.add(file);
    telling.trigger();
  });
  await once(watcher, 'ready');
  terminal.err('watching for changes; Ctrl-C ends');
  await terminal.untilInterrupted();
  await watcher.close();
  await telling.stop();
  return report;
}
