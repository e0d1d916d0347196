/*
 * What a template prints of its samples, expression by expression. What stands behind a guard such as `{{#if}}` is
 * printed only where it is there, and what `default` stands in for is not empty: neither is a mistake.
 */
import { compileReader } from '../../../engine/mapping/facts.ts';
import type { CompiledTemplate } from '../../../engine/mapping/mapping.ts';
import type { Place } from '../../../base/finding.ts';
import type { SampledScope } from './sampled-mapping.ts';

/** An expression of a template, and how often it printed nothing as its path is not there. */
export interface PrintedPath {
  /** From the root. */
  readonly path: string;
  readonly at: Place;
  /** As written. */
  readonly expression: string;
  readonly total: number;
  readonly absent: readonly SampledScope[];
}

export function countPrinted(
  template: CompiledTemplate,
  scopes: readonly SampledScope[],
): readonly PrintedPath[] {
  const counted = new Map<number, PrintedPath & { total: number; readonly absent: SampledScope[] }>();
  for (const sampled of scopes) {
    for (const { at, path, text, expression = '' } of piecesOf(template, sampled)) {
      if (at === undefined || path === undefined) continue;
      const known = counted.get(at.start) ?? { at, path, expression, total: 0, absent: [] };
      counted.set(at.start, known);
      known.total += 1;
      const isAbsent = text === '' && compileReader(path.split('.'))(sampled.scope) === undefined;
      if (isAbsent) known.absent.push(sampled);
    }
  }
  return [...counted.values()];
}

/** A sample that costs too much to render says nothing. */
function piecesOf(
  template: CompiledTemplate,
  { scope }: SampledScope,
): ReturnType<CompiledTemplate['pieces']> {
  try {
    return template.pieces(scope);
  } catch {
    return [];
  }
}
