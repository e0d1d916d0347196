/**
 * Writes what every command says over all cases, golden cases, fixtures, changed proofs, a store, and 5,000 generated
 * pairs of mapping and body, one JSON line a case: `node test/lab/freeze/freeze.ts --out DIR [--from BEFORE] [--only PREFIX]`. Two
 * runs of the same code write the same bytes; `compare.ts` tells two folders apart. With `--from` the inputs are those
 * of an earlier folder, so that only the code differs.
 */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { writeCases } from '../../support/finding-pages.ts';
import type { Task } from './families.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
/** What the cases are made of: kept beside the results. */
const INPUTS = ['mappings', 'transforms', 'sluice.yaml', 'test/golden', 'test/fixtures'];
/** The cases of the pages of findings, as folders. */
const CASES = 'test/findings';

let shownAt = 0;
const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    from: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
  },
});
if (values.out === undefined) {
  process.stderr.write('usage: node test/lab/freeze/freeze.ts --out DIR [--from BEFORE] [--only PREFIX …]\n');
  process.exit(2);
}
process.exitCode = await freeze(
  resolve(values.out),
  values.from === undefined ? REPOSITORY : join(resolve(values.from), 'inputs'),
  values.only,
);
// A store or a sandbox that a case left open is no reason to stay.
process.exit();

async function freeze(out: string, inputs: string, only: readonly string[]): Promise<number> {
  enableCompileCache();
  const work = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-freeze-')));
  const startedAt = performance.now();
  try {
    const isOwn = inputs === REPOSITORY;
    for (const input of isOwn ? INPUTS : [...INPUTS, CASES])
      cpSync(join(inputs, input), join(work, input), { recursive: true, verbatimSymlinks: true });
    if (isOwn) writeCases(join(work, CASES));
    if (isOwn && only.length === 0) keepInputs(work, out);
    symlinkSync(join(REPOSITORY, 'node_modules'), join(work, 'node_modules'));
    process.chdir(work);
    const chosen = (await allTasks(work)).filter(
      ({ name }) => only.length === 0 || only.some((prefix) => name.startsWith(prefix)),
    );
    if (chosen.length === 0) {
      process.stderr.write(`no case begins with ${only.join(' or ')}\n`);
      return 2;
    }
    await record(chosen, work, out);
    const seconds = (ms: number): string => `${String(Math.round(ms / 1000))} s`;
    const { user, system } = process.cpuUsage();
    const took = `${seconds(performance.now() - startedAt)}, ${seconds((user + system) / 1000)} of them computing`;
    process.stderr.write(`\n${String(chosen.length)} cases in ${took}\n`);
    return 0;
  } finally {
    process.chdir(REPOSITORY);
    rmSync(work, { recursive: true, force: true });
  }
}

function keepInputs(work: string, out: string): void {
  const kept = join(out, 'inputs');
  rmSync(kept, { recursive: true, force: true });
  for (const input of [...INPUTS, CASES])
    cpSync(join(work, input), join(kept, input), { recursive: true, verbatimSymlinks: true });
}

async function allTasks(work: string): Promise<readonly Task[]> {
  const [{ repositoryTasks }, { storedTasks }, { pairTasks }] = await Promise.all([
    import('./families.ts'),
    import('./stored.ts'),
    import('./pairs.ts'),
  ]);
  return [...repositoryTasks(work), ...storedTasks(work), ...pairTasks(work)];
}

/** One file a family, so that a folder of some families compares with one of all; each is written when it is whole. */
async function record(tasks: readonly Task[], work: string, out: string): Promise<void> {
  mkdirSync(out, { recursive: true });
  const families = Map.groupBy(tasks, ({ name }) => name.split('/', 1)[0] as string);
  let done = 0;
  for (const [family, own] of families) {
    const lines: string[] = [];
    for (const task of own) {
      showProgress(done, tasks.length, task.name);
      done += 1;
      // oxlint-disable-next-line no-await-in-loop -- one core, and one working directory
      lines.push(await recordOne(task, work));
    }
    writeFileSync(join(out, `${family}.jsonl`), `${lines.join('\n')}\n`);
  }
}

async function recordOne(task: Task, work: string): Promise<string> {
  const { CaseRecord, cleaner } = await import('./record.ts');
  const kept = new CaseRecord(task.name);
  try {
    await task.record(kept);
  } catch (error) {
    // A command that fails for a reason of its own: that is what there is to compare.
    kept.facts['failure'] = error instanceof Error ? error.message : String(error);
  }
  return kept.toLine(cleaner([work, REPOSITORY.replace(/\/$/, '')]));
}

function showProgress(done: number, all: number, name: string): void {
  const { isTTY } = process.stderr;
  if (performance.now() - shownAt < (isTTY ? 300 : 10_000)) return;
  shownAt = performance.now();
  const line = `${String(done)}/${String(all)} ${name.slice(0, 60)}`;
  process.stderr.write(isTTY ? `\r${line.padEnd(75)}` : `${line}\n`);
}
