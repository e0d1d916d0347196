import * as esbuild from 'esbuild';
import type { GraphFile } from './load-graph.ts';
import { SourceMap, type SourceMapPayload } from 'node:module';

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

export function readMap(text: string): SourceMap {
  return new SourceMap(JSON.parse(text) as SourceMapPayload);
}

/** Where the text stood, 1-based, that is now at a 0-based line and column; undefined for what was added. */
export function originalPlace(
  map: SourceMap,
  line: number,
  column: number,
): { readonly line: number; readonly column: number } | undefined {
  const entry = map.findEntry(line, column);
  if (!('originalLine' in entry)) return undefined;
  return { line: entry.originalLine + 1, column: entry.originalColumn + 1 };
}
