/** Turns V8's counts of linked scripts into functions and branches of the operator's own files. */
import { SCRIPT_PREFIX } from '../names.ts';
import type { RawCoverage } from '../worker/isolated-module.ts';
import type { StackMapper } from './map-stack.ts';
import type { CoverageRange, ModuleCoverage } from '../transform.ts';

interface CountedRange {
  readonly kind: 'function' | 'branch';
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** Joins the counts of all workers that ran a module. */
export function readCoverage(
  module: string,
  code: string,
  counts: readonly RawCoverage[],
  mapper: StackMapper,
): ModuleCoverage {
  const ranges = new Map<string, CoverageRange>();
  for (const counted of countedRanges(counts)) {
    const at = positionIn(code, counted.start - SCRIPT_PREFIX.length);
    const found = at === undefined ? undefined : mapper.find(at.line, at.column);
    if (found === undefined) continue;
    const hits = counts.reduce((sum, one) => sum + hitsOf(one, counted), 0);
    const key = `${counted.kind}:${found.file}:${found.line}:${found.column}`;
    const known = ranges.get(key);
    ranges.set(key, {
      kind: counted.kind,
      ...found,
      name: counted.name,
      hits: Math.max(hits, known?.hits ?? 0),
    });
  }
  const order = (a: CoverageRange, b: CoverageRange): number =>
    a.file === b.file ? a.line - b.line || a.column - b.column : a.file < b.file ? -1 : 1;
  return { module, ranges: [...ranges.values()].toSorted(order) };
}

/** The functions of a script as if none had run. */
export function withoutCounts({ functions }: RawCoverage): RawCoverage {
  return {
    functions: functions.map(({ functionName, ranges }) => ({
      functionName,
      ranges: ranges.slice(0, 1).map((range) => ({ ...range, count: 0 })),
    })),
  };
}

/** Every function and branch that any worker saw, the linker's own helpers and wrappers left out. */
function countedRanges(counts: readonly RawCoverage[]): CountedRange[] {
  const found = new Map<string, CountedRange>();
  for (const { functions } of counts) {
    for (const { functionName: name, ranges } of functions) {
      if (name.startsWith('__')) continue;
      ranges.forEach(({ startOffset: start, endOffset: end }, index) => {
        const kind = index === 0 ? 'function' : 'branch';
        if (!found.has(`${start}:${end}`)) found.set(`${start}:${end}`, { kind, name, start, end });
      });
    }
  }
  return [...found.values()].filter(({ start }) => start > SCRIPT_PREFIX.length);
}

/** The count of the smallest range that holds this one; 0 where the worker never came so far. */
function hitsOf(coverage: RawCoverage, { start, end }: CountedRange): number {
  let smallest = Number.POSITIVE_INFINITY;
  let hits = 0;
  for (const { ranges } of coverage.functions) {
    for (const { startOffset, endOffset, count } of ranges) {
      if (startOffset > start || endOffset < end || endOffset - startOffset > smallest) continue;
      smallest = endOffset - startOffset;
      hits = count;
    }
  }
  return hits;
}

function positionIn(code: string, offset: number): { line: number; column: number } | undefined {
  if (offset < 0 || offset >= code.length) return undefined;
  const before = code.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
