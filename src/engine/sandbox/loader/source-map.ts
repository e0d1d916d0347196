import { SourceMap, type SourceMapPayload } from 'node:module';

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
