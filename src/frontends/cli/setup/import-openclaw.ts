import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { importOpenClawFile, type ImportedConfig } from '../../../engine/config/facts.ts';
import type { Cli } from '../command-line.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { printJson } from '../json.ts';
import { printFindings } from '../config-file.ts';
import { advise } from '../lazy-advice.ts';

export interface ImportFlags {
  readonly into?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Writes an OpenClaw configuration as one of ours; what exists is never overwritten. */
export async function importConfig(cli: Cli, file: string, flags: ImportFlags): Promise<void> {
  const { terminal } = cli;
  const into = resolve(terminal.cwd, flags.into ?? '.');
  const imported = await readImport(terminal, file, into);
  if (flags.dryRun !== true) await write(into, imported);
  if (flags.json === true)
    printJson(terminal, 'import openclaw', { ...imported, files: imported.files.map(({ name }) => name) });
  else terminal.out(printReport(imported));
  if (flags.dryRun === true) terminal.err('nothing was written (--dry-run)');
  else terminal.err('next: "sluice check" finds errors in it, "sluice serve" runs it');
}

/** @throws CliError where the file has errors, which are printed */
async function readImport(terminal: Terminal, file: string, into: string): Promise<ImportedConfig> {
  const { env, cwd } = terminal;
  const { imported, findings } = await importOpenClawFile(resolve(cwd, file), { env, cwd, into });
  if (imported !== undefined) return imported;
  printFindings(terminal, await advise(findings, []));
  throw new CliError('nothing was written: the file has errors');
}

async function write(into: string, { files }: ImportedConfig): Promise<void> {
  const existing = files.map(({ name }) => name).filter((name) => existsSync(join(into, name)));
  if (existing.length > 0)
    throw new CliError(`nothing was written: ${existing.join(', ')} exists already in that folder`);
  for (const { name, text, isSecret } of files) {
    const path = join(into, name);
    await mkdir(dirname(path), { recursive: true, ...(isSecret ? { mode: 0o700 } : {}) });
    await writeFile(path, text, { flag: 'wx', ...(isSecret ? { mode: 0o600 } : {}) });
    if (isSecret) await chmod(path, 0o600);
  }
}

function printReport({ files, kept, changed, lost }: ImportedConfig): string {
  const part = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
  return [
    ...files.map(({ name }) => name),
    ...part('kept', kept),
    ...part('changed', changed),
    ...part('lost', lost),
  ].join('\n');
}
