import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import {
  collectCoverage,
  COVERAGE_FORMS,
  findCases,
  formatCoverage,
  formatReport,
  hasFailed,
  isBelow,
  isCi,
  REPORTERS,
  runCases,
  type Coverage,
  type CoverageForm,
  type FoundCases,
  type ReporterName,
  type RunReport,
  type UpdatePolicy,
  createGoldenEngine,
} from '../../../authoring/golden/golden.ts';
import { adviceFor } from '../../../authoring/advice/requests.ts';
import { displayName } from '../../../base/document/document.ts';
import type { Generation } from '../../../service/generation/generation.ts';
import type { Cli } from '../command-line.ts';
import { findCasesFolder, printFindings } from '../config-file.ts';
import { mutate } from './mutate.ts';
import { openWorkbench, type OpenWorkbench } from './workbench.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { watchCases } from './watch-cases.ts';

export interface TestFlags {
  readonly config?: string;
  readonly dir?: string;
  readonly update?: boolean;
  readonly migrate?: boolean;
  readonly watch?: boolean;
  readonly verbose?: boolean;
  readonly mutate?: boolean;
  readonly keep?: boolean;
  readonly coverage?: boolean;
  readonly coverageFile: readonly string[];
  readonly failUnder?: string;
  readonly reporter: readonly string[];
}

export async function test(cli: Cli, filters: readonly string[], flags: TestFlags): Promise<void> {
  const { terminal } = cli;
  const plan = readPlan(terminal, flags);
  await using workbench = await openWorkbench(terminal, flags, { workers: 2 });
  const dir = findCasesFolder(terminal, flags, flags.dir);
  const found = await findWanted(terminal, dir, filters);
  const run = (cases: FoundCases): Promise<RunReport> => runFound(workbench, cases, plan.policy);
  const show = async (report: RunReport, verbose: boolean): Promise<boolean> => {
    await writeReports(terminal, report, plan.reporters, { verbose });
    const errors = await workbench.bench.findTypeErrors(workbench.generation);
    printFindings(terminal, errors);
    return errors.length === 0;
  };
  let report = await run(found);
  if (!(await show(report, flags.verbose === true))) cli.setExitCode(1);
  if (flags.mutate === true) {
    const keep = flags.keep === true ? { dir } : {};
    const isNoticed = await mutate(terminal, { ...workbench, cases: found.cases, ...keep });
    if (!isNoticed || hasFailed(report)) cli.setExitCode(1);
    return;
  }
  const coverage = await reportCoverage(terminal, workbench.generation, report, plan);
  if (flags.watch === true)
    report = await watchCases(terminal, workbench, { dir, filters, report, run, show });
  if (sayBelow(terminal, coverage, plan) || hasFailed(report)) cli.setExitCode(1);
}

function sayBelow(terminal: Terminal, coverage: Coverage | undefined, { failUnder }: TestPlan): boolean {
  if (coverage === undefined || failUnder === undefined || !isBelow(coverage, failUnder)) return false;
  terminal.err(`coverage ${coverage.covered}/${coverage.total} is below ${failUnder}%`);
  return true;
}

interface ReportOutput<Name> {
  readonly name: Name;
  /** Where the report goes; absent: stdout. */
  readonly file?: string;
}

interface TestPlan {
  readonly policy: UpdatePolicy;
  readonly reporters: readonly ReportOutput<ReporterName>[];
  readonly coverage: boolean;
  readonly coverageFiles: readonly ReportOutput<CoverageForm>[];
  readonly failUnder: number | undefined;
}

function readPlan(terminal: Terminal, flags: TestFlags): TestPlan {
  const policy = choosePolicy(terminal, flags);
  const failUnder = flags.failUnder === undefined ? undefined : readPercentage(flags.failUnder);
  const reporters = flags.reporter.map((text) => readOutput(text, REPORTERS, '--reporter'));
  const coverageFiles = flags.coverageFile.map((text) => readOutput(text, COVERAGE_FORMS, '--coverage-file'));
  return {
    policy,
    reporters: reporters.length === 0 ? [{ name: 'pretty' }] : reporters,
    coverage: flags.coverage === true || failUnder !== undefined || coverageFiles.length > 0,
    coverageFiles,
    failUnder,
  };
}

/** @throws CliError where the flags ask for what cannot be done here */
function choosePolicy(terminal: Terminal, { update, migrate }: TestFlags): UpdatePolicy {
  const ci = isCi(terminal.env);
  if (ci && update === true)
    throw new CliError('--update does not work where CI is set: expectations are written by people', 2);
  if (ci && migrate === true) throw new CliError('--migrate does not work where CI is set', 2);
  if (migrate === true && update === true)
    throw new CliError('--migrate changes no expectation: run it without --update', 2);
  if (ci) return 'none';
  if (migrate === true) return 'migrate';
  return update === true ? 'all' : 'new';
}

function readPercentage(text: string): number {
  const percentage = Number(text);
  if (percentage >= 0 && percentage <= 100) return percentage;
  throw new CliError(`--fail-under takes a percentage from 0 to 100, not ${JSON.stringify(text)}`, 2);
}

function readOutput<Name extends string>(
  text: string,
  names: readonly Name[],
  flag: string,
): ReportOutput<Name> {
  const [word = '', ...rest] = text.split('=');
  const name = names.find((candidate) => candidate === word);
  if (name === undefined)
    throw new CliError(`${flag} takes ${names.join(', ')}, not ${JSON.stringify(word)}`, 2);
  return rest.length === 0 ? { name } : { name, file: rest.join('=') };
}

async function findWanted(terminal: Terminal, dir: string, filters: readonly string[]): Promise<FoundCases> {
  const files = filters.map((name) =>
    /\.(?:request|expected)\.\w+$/.test(name) ? resolve(terminal.cwd, name) : name,
  );
  const found = await findCases(dir, files);
  const isPassedOver = found.findings.every(({ severity }) => severity === 'warning');
  if (found.cases.length > 0 || !isPassedOver) return found;
  printFindings(terminal, found.findings);
  const shown = displayName(dir, terminal.cwd);
  throw new CliError(
    filters.length === 0
      ? `there are no golden cases in ${shown}; "sluice record" writes some from real requests, and --dir names another folder`
      : `no golden case in ${shown} has a name that contains ${filters.join(' or ')}`,
  );
}

function runFound(
  { generation }: OpenWorkbench,
  found: FoundCases,
  policy: UpdatePolicy,
): Promise<RunReport> {
  const engine = createGoldenEngine(generation, (evaluation, request) =>
    adviceFor(evaluation, request, generation.table),
  );
  return runCases(found, engine, { policy });
}

async function writeReports(
  terminal: Terminal,
  report: RunReport,
  reporters: readonly ReportOutput<ReporterName>[],
  options: { readonly verbose: boolean },
): Promise<void> {
  for (const { name, file } of reporters) {
    const color = file === undefined && terminal.color;
    const text = formatReport(report, name, { color, cwd: terminal.cwd, ...options });
    await writeOutput(terminal, file, text, { annotations: name === 'github' });
  }
}

async function writeOutput(
  terminal: Terminal,
  file: string | undefined,
  text: string,
  options?: Parameters<Terminal['out']>[1],
): Promise<void> {
  if (file === undefined) {
    terminal.out(text, options);
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
  plan: TestPlan,
): Promise<Coverage | undefined> {
  if (!plan.coverage) return undefined;
  const evaluations = report.results.flatMap((result) => result.evaluations);
  const coverage = collectCoverage(generation.table, evaluations);
  const outputs: TestPlan['coverageFiles'] =
    plan.coverageFiles.length === 0 ? [{ name: 'text' }] : plan.coverageFiles;
  for (const { name, file } of outputs) await writeOutput(terminal, file, formatCoverage(coverage, name));
  return coverage;
}
