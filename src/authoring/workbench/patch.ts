/** Writes a change of a file, and its request as a golden case, as a patch for review. Nothing is saved. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { displayName } from '../../base/document/document.ts';
import type { HookRequest } from '../../base/request.ts';
import type { Generation } from '../../service/generation/generation.ts';
import type { FileContent } from './author-files.ts';
import { keepAsGolden } from './keep-golden.ts';

const CONTEXT = 3;

export interface PatchOptions {
  readonly file: FileContent;
  readonly text: string;
  /** Absent where none is chosen, or it was not stored. */
  readonly request: HookRequest | undefined;
  /** The files with the change. Without it a case has no expectation. */
  readonly generation: Generation | undefined;
  readonly goldenDir: string;
  readonly secrets: readonly string[];
}

/** Returns the form that `git apply` accepts; names are relative to where the service was started. */
export async function patchOf({
  file,
  text,
  request,
  generation,
  goldenDir,
  secrets,
}: PatchOptions): Promise<string> {
  const change = differenceOf(file.name, file.text, text);
  if (request === undefined) return change;
  const dir = await mkdtemp(join(tmpdir(), 'sluice-patch-'));
  try {
    await keepAsGolden(request, { dir, masks: [], secrets, generation });
    const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((one) =>
      one.isFile(),
    );
    const added = files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name);
      const shown = displayName(join(goldenDir, relative(dir, path)));
      // The schema is found from the folder of the cases, and not from the temporary one.
      const content = (await readFile(path, 'utf8')).replace(/^# yaml-language-server:.*\n/, '');
      return differenceOf(shown, undefined, content);
    });
    return change + (await Promise.all(added)).join('');
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Writes one hunk from the first changed line to the last; `before` is undefined for a new file. */
function differenceOf(name: string, before: string | undefined, after: string): string {
  const [old, lines] = [linesOf(before ?? ''), linesOf(after)];
  const most = Math.min(old.length, lines.length);
  const same = (at: number): boolean => old[at] === lines[at];
  let first = 0;
  while (first < most && same(first)) first += 1;
  let last = 0;
  while (last < most - first && old.at(-1 - last) === lines.at(-1 - last)) last += 1;
  if (first === old.length && first === lines.length) return '';
  const [from, behind] = [Math.max(0, first - CONTEXT), Math.max(0, last - CONTEXT)];
  const range = ({ length }: readonly string[]): string => {
    const count = length - from - behind;
    return `${count === 0 ? from : from + 1},${count}`;
  };
  const part = (sign: string, all: readonly string[]): string => all.map((line) => `${sign}${line}`).join('');
  return [
    before === undefined ? '--- /dev/null\n' : `--- a/${name}\n`,
    `+++ b/${name}\n@@ -${range(old)} +${range(lines)} @@\n`,
    part(' ', old.slice(from, first)),
    part('-', old.slice(first, old.length - last)),
    part('+', lines.slice(first, lines.length - last)),
    part(' ', old.slice(old.length - last, old.length - behind)),
  ].join('');
}

/** A patch says where the last line has no end. */
function linesOf(text: string): readonly string[] {
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) =>
    line.endsWith('\n') ? line : `${line}\n\\ No newline at end of file\n`,
  );
}
