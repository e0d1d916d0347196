import * as esbuild from 'esbuild';
import type { GraphFile } from './load-graph.ts';

/** A file in the one form in which esbuild prints it; its source map leads back to the operator's own text. */
export interface PrintedFile {
  readonly code: string;
  readonly map: string;
}

const LOADERS = { typescript: 'ts', esm: 'js', commonjs: 'js' } as const;

/** Undefined for data, and for what does not parse, which the scan of the sources reports. */
export async function printFile(
  { kind, original }: GraphFile,
  define: Readonly<Record<string, string>> = {},
): Promise<PrintedFile | undefined> {
  if (kind === 'json') return undefined;
  const options = { loader: LOADERS[kind], target: 'esnext', tsconfigRaw: {}, logLevel: 'silent' } as const;
  try {
    return await esbuild.transform(original, { ...options, define, sourcemap: 'external' });
  } catch {
    return undefined;
  }
}
