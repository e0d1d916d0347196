import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { watch } from 'chokidar';
import {
  applyPolicy,
  collectCoverage,
  COVERAGE_FORMS,
  explainFailure,
  findCases,
  formatCoverage,
  formatReport,
  hasFailed,
  isBelow,
  REPORTERS,
  runCases,
  type CaseResult,
  type Coverage,
  type CoverageForm,
  type ReporterName,
  type RunReport,
  type UpdatePolicy,
} from '../golden/golden.ts';
import { createGoldenEngine } from '../golden-engine.ts';
import type { Generation } from '../generation.ts';
import type { TestFlags } from './authoring-commands.ts';
import type { Cli } from './command-line.ts';
import { openWorkbench, type Workbench } from './workbench.ts';
import { CliError, type Terminal } from './terminal.ts';

/** Runs golden cases; see `sluice test --help` for the flags. */
export async function test(cli: Cli, filters: readonly string[], flags: TestFlags): Promise<void> {
  const plan = readPlan(cli.terminal, flags);
  const workbench = await openWorkbench(cli.terminal, flags, { coverage: plan.coverage });
  try {
    const report = await runOnce(cli.terminal, workbench, filters, flags, plan);
    const coverage = await reportCoverage(cli.terminal, workbench.generation, report, plan);
    if (flags.interactive === true) await walkThrough(cli.terminal, report);
    if (flags.watch === true) await watchCases(cli, workbench, filters, flags, plan);
    const below = coverage !== undefined && plan.failUnder !== undefined && isBelow(coverage, plan.failUnder);
    if (below) cli.terminal.err(`coverage ${coverage.covered}/${coverage.total} is below ${plan.failUnder}%`);
    if (below || hasFailed(report)) cli.setExitCode(1);
  } finally {
    await workbench.close();
  }
}

interface Output<Name> {
  readonly name: Name;
  /** Absent: stdout. */
  readonly file?: string;
}

interface Plan {
  readonly policy: UpdatePolicy;
  readonly reporters: readonly Output<ReporterName>[];
  readonly coverage: boolean;
  readonly coverageFiles: readonly Output<CoverageForm>[];
  readonly failUnder: number | undefined;
}

function readPlan(terminal: Terminal, flags: TestFlags): Plan {
  const ci = isCi(terminal.env);
  if (ci && flags.update === true)
    throw new CliError('--update does not work where CI is set: expectations are written by people', 2);
  if (flags.interactive === true && !terminal.interactive) throw new CliError('-i needs a terminal', 2);
  const failUnder = flags.failUnder === undefined ? undefined : Number(flags.failUnder);
  if (failUnder !== undefined && !(failUnder >= 0 && failUnder <= 100)) {
    throw new CliError(
      `--fail-under takes a percentage from 0 to 100, not ${JSON.stringify(flags.failUnder)}`,
      2,
    );
  }
  const reporters = flags.reporter.map((text) => readOutput(text, REPORTERS, '--reporter'));
  const coverageFiles = flags.coverageFile.map((text) => readOutput(text, COVERAGE_FORMS, '--coverage-file'));
  return {
    policy: ci || flags.interactive === true ? 'none' : flags.update === true ? 'all' : 'new',
    reporters: reporters.length === 0 ? [{ name: 'pretty' }] : reporters,
    coverage: flags.coverage === true || failUnder !== undefined || coverageFiles.length > 0,
    coverageFiles,
    failUnder,
  };
}

/** `CI` counts as set unless it is `false`, `0` or empty. */
export function isCi(env: NodeJS.ProcessEnv): boolean {
  return !['', 'false', '0'].includes((env['CI'] ?? '').toLowerCase());
}

function readOutput<Name extends string>(text: string, names: readonly Name[], flag: string): Output<Name> {
  const [word = '', ...rest] = text.split('=');
  const name = names.find((candidate) => candidate === word);
  if (name === undefined)
    throw new CliError(`${flag} takes ${names.join(', ')}, not ${JSON.stringify(word)}`, 2);
  return rest.length === 0 ? { name } : { name, file: rest.join('=') };
}

async function runOnce(
  terminal: Terminal,
  workbench: Workbench,
  filters: readonly string[],
  flags: TestFlags,
  plan: Plan,
): Promise<RunReport> {
  const found = await findCases(resolve(terminal.cwd, flags.dir), filters);
  if (found.cases.length === 0 && found.diagnostics.length === 0) {
    throw new CliError(
      filters.length === 0
        ? `there are no golden cases in ${flags.dir}; "sluice record" writes some from real requests`
        : `no golden case in ${flags.dir} has a name that contains ${filters.join(' or ')}`,
    );
  }
  const engine = createGoldenEngine(workbench.generation);
  const report = await runCases(found, engine, {
    policy: plan.policy,
    ...progress(terminal, found.cases.length),
  });
  await writeReports(terminal, report, flags, plan.reporters);
  return report;
}

/** One moving line on a terminal while many cases run. */
function progress(terminal: Terminal, total: number): { onResult?: (result: CaseResult) => void } {
  if (!terminal.interactive || total < 50) return {};
  let done = 0;
  return {
    onResult: () => {
      done += 1;
      if (done % 25 === 0 || done === total)
        process.stderr.write(`\r${done}/${total} cases${done === total ? '\r\u001B[K' : ''}`);
    },
  };
}

async function writeReports(
  terminal: Terminal,
  report: RunReport,
  flags: TestFlags,
  reporters: readonly Output<ReporterName>[],
): Promise<void> {
  for (const { name, file } of reporters) {
    const color = file === undefined && terminal.color;
    const text = formatReport(report, name, { color, cwd: terminal.cwd, verbose: flags.verbose === true });
    await writeOutput(terminal, file, text);
  }
}

async function writeOutput(terminal: Terminal, file: string | undefined, text: string): Promise<void> {
  if (file === undefined) {
    terminal.out(text);
    return;
  }
  const path = resolve(terminal.cwd, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function reportCoverage(
  terminal: Terminal,
  generation: Generation,
  report: RunReport,
  plan: Plan,
): Promise<Coverage | undefined> {
  if (!plan.coverage) return undefined;
  const evaluations = report.results.flatMap((result) => result.evaluations);
  const coverage = collectCoverage(generation.table, evaluations);
  const outputs = plan.coverageFiles.length === 0 ? [{ name: 'text' as const }] : plan.coverageFiles;
  for (const output of outputs) {
    await writeOutput(
      terminal,
      'file' in output ? output.file : undefined,
      formatCoverage(coverage, output.name),
    );
  }
  return coverage;
}

/** Shows each difference and asks: accept it, leave it, or stop. */
async function walkThrough(terminal: Terminal, report: RunReport): Promise<void> {
  const differing = report.results.filter(
    (result) => result.status === 'failed' || result.status === 'missing',
  );
  for (const [index, result] of differing.entries()) {
    terminal.out(
      `\n${index + 1}/${differing.length}  ${result.case.name}\n${explainFailure(result, { color: terminal.color, cwd: terminal.cwd })}`,
    );
    const answer = await terminal.choose('What happened is right: write it?', ['yes', 'no', 'quit']);
    if (answer === undefined || answer === 'quit') return;
    if (answer === 'yes')
      terminal.out(`${(await applyPolicy(result, 'all')).status} ${result.case.expectedFile}`);
  }
}

/** Runs again what a change affects until the command is ended. */
async function watchCases(
  cli: Cli,
  workbench: Workbench,
  filters: readonly string[],
  flags: TestFlags,
  plan: Plan,
): Promise<void> {
  const { terminal } = cli;
  const dir = resolve(terminal.cwd, flags.dir);
  const watcher = watch([dir, ...workbench.watchedPaths()], { ignoreInitial: true });
  terminal.err('watching; Ctrl-C ends');
  let running: Promise<void> = Promise.resolve();
  const changed = new Set<string>();
  const rerun = async (): Promise<void> => {
    const files = [...changed];
    changed.clear();
    if (files.length === 0) return;
    const onlyCases = files.every((file) => file.startsWith(dir));
    if (!onlyCases && !(await workbench.reload())) return;
    const names = onlyCases ? files.map((file) => caseFilter(dir, file)) : filters;
    await runOnce(terminal, workbench, names, { ...flags, verbose: true }, plan).catch((error: unknown) => {
      terminal.err(error instanceof Error ? error.message : String(error));
    });
  };
  watcher.on('all', (_event, file) => {
    if (file.endsWith('.expected.yaml')) return;
    changed.add(file);
    running = running.then(() => new Promise((done) => setTimeout(done, 50))).then(rerun);
  });
  await new Promise<void>((done) => process.once('SIGINT', done));
  await watcher.close();
  await running;
}

const caseFilter = (dir: string, file: string): string =>
  file
    .slice(dir.length + 1)
    .replace(/\.request\.(yaml|yml|json)$/, '')
    .replaceAll('\\', '/');
