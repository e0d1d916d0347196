import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { displayName } from '../../../base/document/document.ts';
import {
  compareOutcomes,
  createGoldenEngine,
  findCases,
  formatImpact,
} from '../../../authoring/golden/golden.ts';
import type { Cli } from '../command-line.ts';
import { findCasesFolder, findConfigFile, type JsonFlags, printFindings } from '../config-file.ts';
import { printJson } from '../json.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { type BenchOptions, openWorkbench } from './workbench.ts';

export interface DiffFlags extends JsonFlags {
  readonly corpus?: string;
  readonly exitCode?: boolean;
}

const run = promisify(execFile);

export async function diff(cli: Cli, base: string, flags: DiffFlags): Promise<void> {
  const { terminal } = cli;
  const config = findConfigFile(terminal, flags);
  const corpus = findCasesFolder(terminal, flags, flags.corpus);
  const { cases, findings } = await findCases(corpus);
  printFindings(terminal, findings);
  if (cases.length === 0)
    throw new CliError(`there are no recorded requests in ${displayName(corpus, terminal.cwd)}`, 2);
  await using checkout = await openBase(terminal.cwd, base, config);
  await using before = await openWorkbench(
    terminal,
    { config: checkout.config },
    { mayLoadPlugins: () => false },
  ).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(`the base ${base} has errors, so there is nothing to compare with`, error.exitCode);
  });
  await using after = await openWorkbench(terminal, { config }, { mayLoadPlugins: leavePlugins(terminal) });
  const report = await compareOutcomes(cases, createGoldenEngine(before.generation), {
    after: createGoldenEngine(after.generation),
  });
  if (flags.json === true) printJson(terminal, 'diff', report);
  else terminal.out(formatImpact(report, terminal.color));
  if (flags.exitCode === true && report.changes.length > 0) cli.setExitCode(1);
}

/** Another commit may have other code. Neither side loads any, so that both are judged alike. */
function leavePlugins(terminal: Terminal): NonNullable<BenchOptions['mayLoadPlugins']> {
  return ({ settings: { plugins } }) => {
    terminal.err(
      `diff loads no plugins (${plugins.join(', ')}): settings and recipients of their channels are not judged`,
    );
    return false;
  };
}

interface Checkout extends AsyncDisposable {
  readonly config: string;
}

/**
 * Opens the base's files: a folder as it is, or a revision written into a temporary folder without touching
 * the repository.
 */
async function openBase(cwd: string, base: string, config: string): Promise<Checkout> {
  const folder = resolve(cwd, base);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return openRevision(base, config);
  const inFolder = join(folder, basename(config));
  if (!existsSync(inFolder)) throw new CliError(`${base} holds no ${basename(config)}`, 2);
  return { config: inFolder, [Symbol.asyncDispose]: async () => {} };
}

async function openRevision(base: string, config: string): Promise<Checkout> {
  const top = await git(dirname(config), ['rev-parse', '--show-toplevel']).catch((error: unknown) => {
    if (error instanceof CliError) throw error;
    throw new CliError(`${base} is no folder, and ${basename(config)} lies in no git repository`, 2);
  });
  const asked = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${base}^{tree}`];
  const revision = await git(top, asked).catch(() => {
    throw new CliError(
      `${JSON.stringify(base)} is neither a folder nor a git revision of this repository`,
      2,
    );
  });
  const checkout = await checkOut(top, revision, config);
  if (existsSync(checkout.config)) return checkout;
  await checkout[Symbol.asyncDispose]();
  throw new CliError(`${basename(config)} does not exist in ${base}`, 2);
}

async function checkOut(top: string, revision: string, config: string): Promise<Checkout> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-diff-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const env = { ...process.env, GIT_INDEX_FILE: join(folder, '.index') };
    await run('git', ['-C', top, 'read-tree', revision], { env });
    await run('git', ['-C', top, 'checkout-index', '--all', '--force', `--prefix=${folder}/`], { env });
    const own = join(folder, relative(await realpath(top), await realpath(config)));
    return { config: own, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function git(cwd: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await run('git', ['-C', cwd, ...args]);
    return stdout.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new CliError('git is needed to compare with a revision', 3);
    throw error;
  }
}
