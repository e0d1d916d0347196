import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { readDocument, validate } from '../../src/base/document/document.ts';
import type { Finding } from '../../src/base/document/document.ts';
import { DOCUMENT_CODES } from '../support/finding-cases.ts';

export const codes = DOCUMENT_CODES;

/** A schema with one of everything, for the findings that need one. */
const sample = z.strictObject({
  name: z.string().min(1).optional(),
  size: z.number().int().min(1).max(10).optional(),
  mode: z.enum(['fast', 'slow']).optional(),
  waitSeconds: z.number().max(1_000_000).optional(),
  tags: z.array(z.string()).optional(),
  token: z.string().min(8).optional(),
  nested: z.strictObject({ needed: z.boolean() }).optional(),
  runner: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('echo') }),
      z.strictObject({ kind: z.literal('command'), argv: z.array(z.string()) }),
    ])
    .optional(),
  target: z.union([z.string(), z.strictObject({ kind: z.literal('http'), url: z.string() })]).optional(),
});

/** Files that cannot lie in a repository. */
const builders: Readonly<Record<string, (file: string) => Promise<void>>> = {
  FILE_TOO_LARGE: (file) => writeFile(file, '#'.repeat(4 * 1024 * 1024 + 1)),
  FILE_UNREADABLE: (file) => symlink(file, file),
  INVALID_UTF8: (file) => writeFile(file, Buffer.from('name: caf\u00e9 au lait\n', 'latin1')),
  'TOO_DEEP-parser': (file) => writeFile(file, `${'['.repeat(100_000)}${']'.repeat(100_000)}`),
};

/** Reads `document.*` and, where that succeeds, checks it against the sample schema. */
export async function check(folder: string): Promise<readonly Finding[]> {
  const build = builders[basename(folder)];
  if (build === undefined) {
    const names = await readdir(folder);
    return checkFile(join(folder, names[0] ?? 'absent.yaml'), folder);
  }
  const temporary = await mkdtemp(join(tmpdir(), 'sluice-'));
  try {
    const file = join(temporary, basename(folder) === 'INVALID_UTF8' ? 'document.yaml' : 'document.json');
    await build(file);
    return await checkFile(file, temporary);
  } finally {
    await rm(temporary, { recursive: true });
  }
}

async function checkFile(file: string, cwd: string): Promise<readonly Finding[]> {
  const { document, findings } = await readDocument(file, { cwd });
  return document === undefined ? findings : [...findings, ...validate(document.root, sample).findings];
}
