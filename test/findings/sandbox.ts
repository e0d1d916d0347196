import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { advise } from '../../src/authoring/advice/advice.ts';
import type { Finding } from '../../src/base/document/document.ts';
import { Sandbox, typecheckTransforms, type TransformRef } from '../../src/engine/sandbox/sandbox.ts';
import { refTo } from '../support/sandbox-fixture.ts';
import { said } from '../support/said.ts';

/** Codes of all findings about transforms. */
export const codes: readonly string[] = [
  'TRANSFORM_NOT_FOUND',
  'TRANSFORM_OUTSIDE',
  'TRANSFORM_FILE_TYPE',
  'TRANSFORM_IMPORT_REFUSED',
  'TRANSFORM_IMPORT_OUTSIDE',
  'TRANSFORM_IMPORT_NOT_FOUND',
  'TRANSFORM_IMPORT_NAME',
  'TRANSFORM_MISSING_GLOBAL',
  'TRANSFORM_ENV_MISSING',
  'TRANSFORM_FORGETS',
  'TRANSFORM_DYNAMIC_IMPORT',
  'TRANSFORM_REQUIRE',
  'TRANSFORM_TOP_LEVEL_AWAIT',
  'TRANSFORM_SYNTAX',
  'TRANSFORM_TOO_LARGE',
  'TRANSFORM_EXPORT_MISSING',
  'TRANSFORM_NOT_A_FUNCTION',
  'TRANSFORM_TOP_LEVEL_FAILED',
  'TRANSFORM_HEAVY_TOP_LEVEL',
  'TRANSFORM_NOT_CHECKED',
  'TRANSFORM_LOADER_FAILED',
  'TRANSFORM_TYPES',
  'TRANSFORM_TYPES_NOT_CHECKED',
];

/** `case.json`: what mappings name, and what is missing around them. */
interface Case {
  readonly transforms: readonly {
    readonly module: string;
    readonly export?: string;
    readonly timeoutMs?: number;
    readonly env?: Readonly<Record<string, string>>;
  }[];
  /** Whether types are checked, and if a compiler is beside the configuration. */
  readonly types?: 'with-compiler' | 'without-compiler';
  readonly missing?: 'workers' | 'loader';
  /** A JSON file of over a megabyte that is made for the case and not kept. */
  readonly large?: string;
}

/**
 * Loads the case's `transforms/` as `check` does; the modules' places are in `case.json`. On a busy machine a worker may
 * be stopped before it says where its module ran endlessly: then it is asked again.
 */
export async function check(folder: string): Promise<readonly Finding[]> {
  for (let tries = 1; ; tries += 1) {
    const found = await checkOnce(folder);
    const isPlaceMissing = found.some(({ message }) =>
      /it ran longer than \d+ ms \(timeoutMs\)$/.test(said(message)),
    );
    if (!isPlaceMissing || tries === 3) return found;
  }
}

/** One for all cases: to start its processes is most of what a case takes. */
let shared = openSandbox();

function openSandbox(): Sandbox {
  return new Sandbox({ workers: 1, spare: 0 });
}

/** Ends the processes in which modules of cases ran. */
export async function stop(): Promise<void> {
  const last = shared;
  shared = openSandbox();
  await last.stop();
}

async function checkOnce(folder: string): Promise<readonly Finding[]> {
  const text = readFileSync(join(folder, 'case.json'), 'utf8');
  const { transforms, types, missing, large } = JSON.parse(text) as Case;
  const refs = transforms.map((transform): TransformRef => {
    const start = text.indexOf(JSON.stringify(transform.module));
    const at = { source: { file: 'case.json', text }, start, end: start + transform.module.length + 2 };
    return refTo(transform.module, { ...transform, at });
  });
  const dir = join(folder, 'transforms');
  if (types !== undefined) {
    const lonely = mkdtempSync(join(tmpdir(), 'sluice-lonely-'));
    const search =
      types === 'with-compiler'
        ? { configDir: resolve('.'), cwd: folder }
        : { configDir: join(lonely, 'config'), cwd: lonely, sluiceDir: lonely };
    const { findings } = await typecheckTransforms(dir, refs, search);
    rmSync(lonely, { recursive: true });
    return findings;
  }
  const sandbox = missing === 'workers' ? openSandbox() : shared;
  const node = process.execPath;
  try {
    if (large !== undefined) writeFileSync(join(dir, large), JSON.stringify({ text: 'x'.repeat(1_100_000) }));
    if (missing === 'workers') await sandbox.stop();
    if (missing === 'loader') process.execPath = '/nowhere/node';
    const { findings, release } = await sandbox.loadTransforms(dir, refs, { cwd: folder });
    release();
    return advise(findings);
  } finally {
    process.execPath = node;
    if (large !== undefined) rmSync(join(dir, large));
  }
}
