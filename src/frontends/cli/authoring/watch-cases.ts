import { sep } from 'node:path';
import { watch, type FSWatcher } from 'chokidar';
import { messageOf } from '../../../base/errors.ts';
import { displayName } from '../../../base/document/document.ts';
import { findCases, type FoundCases, type RunReport } from '../../../authoring/golden/golden.ts';
import { debounce, type DebouncedCall } from '../running/debounce.ts';
import type { Terminal } from '../terminal.ts';
import type { OpenWorkbench } from './workbench.ts';

export interface WatchOptions {
  /** The absolute folder of the cases. */
  readonly dir: string;
  readonly filters: readonly string[];
  readonly report: RunReport;
  run(found: FoundCases): Promise<RunReport>;
  show(report: RunReport, verbose: boolean): Promise<void>;
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
  options: WatchOptions,
): Promise<RunReport> {
  let { report } = options;
  const own = new Set<string>();
  const watcher = watch([options.dir, ...workbench.generation.watchedPaths], { ignoreInitial: true });
  const telling = tellChanges(watcher, own, async (files) => {
    report = await rerun(terminal, workbench, { ...options, report, files, watcher, own });
  });
  await new Promise<void>((ready) => watcher.once('ready', () => ready()));
  terminal.err('watching for changes; Ctrl-C ends');
  await terminal.untilInterrupted();
  await watcher.close();
  await telling.stop();
  return report;
}

function tellChanges(
  watcher: FSWatcher,
  own: Set<string>,
  tell: (files: readonly string[]) => Promise<void>,
): DebouncedCall {
  const changed = new Set<string>();
  const telling = debounce(QUIET_MS, async () => {
    const files = [...changed];
    changed.clear();
    if (files.length > 0) await tell(files);
  });
  watcher.on('all', (_event, file) => {
    if (own.delete(file)) return;
    changed.add(file);
    telling.trigger();
  });
  return telling;
}

interface Rerun extends WatchOptions {
  readonly files: readonly string[];
  readonly watcher: FSWatcher;
  /** Expectations that the run itself wrote: their change is no news. */
  readonly own: Set<string>;
}

/** Returns the report before where nothing could be run, and says why. */
async function rerun(terminal: Terminal, workbench: OpenWorkbench, run: Rerun): Promise<RunReport> {
  terminal.err(`\nchanged: ${run.files.map((file) => displayName(file, terminal.cwd)).join(', ')}`);
  try {
    return (await runAffected(workbench, run)) ?? run.report;
  } catch (error) {
    terminal.err(messageOf(error));
    return run.report;
  }
}

async function runAffected(workbench: OpenWorkbench, given: Rerun): Promise<RunReport | undefined> {
  const { files, watcher, own, dir } = given;
  const onlyCases = files.every((file) => file.startsWith(dir + sep));
  if (!onlyCases && !(await workbench.reload())) return undefined;
  watcher.add([...workbench.generation.watchedPaths]);
  const found = await findCases(dir, given.filters);
  const affected = onlyCases
    ? found.cases.filter((each) => each.files.some((file) => files.includes(file)))
    : found.cases;
  const report = await given.run({ ...found, cases: affected });
  for (const { status, case: each } of report.results) {
    if (status === 'written' || status === 'updated') own.add(each.expectedFile);
  }
  await given.show(report, onlyCases);
  return report;
}
