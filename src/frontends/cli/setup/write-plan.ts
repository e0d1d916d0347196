import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { readDocument } from '../../../base/document/document.ts';
import { editDocument } from '../../../base/document/facts.ts';
import { printSentence } from '../../../base/finding.ts';
import { replaceFile, writeSecretFile } from '../../../base/write-file.ts';
import type { Places, PlannedFile } from './add-plan.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { refuseOpenClawFile } from '../config-file.ts';

/** A setting or secret that is written besides the plan's own files. Secrets must not be printed. */
export interface Secret {
  /** Relative to the configuration. */
  readonly file: string;
  /** Undefined where the person does not have it yet: the file is written later. */
  readonly value: string | undefined;
}

export interface SetupPlan {
  readonly files: readonly PlannedFile[];
  readonly secrets: readonly Secret[];
  readonly edits: readonly { readonly path: readonly [string, ...string[]]; readonly value: unknown }[];
  readonly steps: readonly string[];
  /** The sender that brings the secret to the address. */
  readonly sentBy?: string;
}

/** Writes the files of a plan and returns them; existing files stay. */
export async function writePlan(
  terminal: Terminal,
  { files, secrets }: SetupPlan,
  { root, cases }: Places,
): Promise<readonly string[]> {
  await writeSecrets(terminal, secrets, root);
  const attributes = { path: join(cases, '.gitattributes'), text: CASE_ATTRIBUTES };
  const isFirst = files.some(({ path }) => path.startsWith(cases)) && !existsSync(attributes.path);
  return writeFiles(terminal, isFirst ? [...files, attributes] : files);
}

/** Git must change no line end of golden cases, because the bytes of a body are its content. */
const CASE_ATTRIBUTES = '* -text\n';

/** Says of each file whether it was written; resolves to those that were. */
export async function writeFiles(terminal: Terminal, files: SetupPlan['files']): Promise<readonly string[]> {
  const written: string[] = [];
  for (const { path, text } of files) {
    await mkdir(dirname(path), { recursive: true });
    const isWritten = await writeUnlessThere(path, text);
    if (isWritten) written.push(path);
    terminal.out(`${relative(terminal.cwd, path)}${isWritten ? '' : '  (exists already, left as it is)'}`);
  }
  return written;
}

async function writeUnlessThere(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

async function writeSecrets(terminal: Terminal, secrets: SetupPlan['secrets'], root: string): Promise<void> {
  for (const { file, value } of secrets) {
    const path = join(root, file);
    if (value === undefined || existsSync(path)) continue;
    await hideFolder(root);
    await writeSecretFile(path, `${value}\n`);
    terminal.out(`${relative(terminal.cwd, path)}  (secret, only you can read it)`);
  }
}

/** Git ignores the folder of state and secrets, so that none is committed by accident. */
export async function hideFolder(root: string): Promise<void> {
  await mkdir(join(root, '.sluice'), { recursive: true, mode: 0o700 });
  await writeUnlessThere(join(root, '.sluice', '.gitignore'), '*\n');
}

export async function editConfig(terminal: Terminal, file: string, { edits }: SetupPlan): Promise<void> {
  if (edits.length === 0) return;
  const { edited } = await readEditable(file);
  await replaceFile(file, edited(edits));
  terminal.out(`${relative(terminal.cwd, file)}  (${edits.map(({ path }) => path.join('.')).join(', ')})`);
}

/** Reads the configuration as it is written, and as it would be after edits. */
export async function readEditable(file: string) {
  refuseOpenClawFile(file);
  const { document, findings } = await readDocument(file, { cwd: dirname(file) });
  const [problem] = findings;
  if (document === undefined)
    throw new CliError(
      `${file}: ${problem === undefined ? 'cannot be read' : printSentence(problem.message)}`,
    );
  const format = file.endsWith('.json5') ? 'json5' : file.endsWith('.json') ? 'json' : 'yaml';
  return {
    root: document.root,
    text: document.source.text,
    edited: (edits: SetupPlan['edits']): string => editDocument(document.source, format, edits),
  };
}
