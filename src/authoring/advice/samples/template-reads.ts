/*
 * What a template reads of its samples. A path is counted where it stands; whether its expression printed nothing is
 * counted, too: a guard such as `{{#if}}` or `default` is then no mistake. Within `each` and `with` only what is
 * printed is known.
 */
import { compileReader } from '../../../engine/mapping/facts.ts';
import type { CompiledTemplate } from '../../../engine/mapping/mapping.ts';
import type { Place } from '../../../base/finding.ts';
import type { SampledScope } from './sampled-mapping.ts';

/** A path of a template, and how often it is there. */
export interface CountedRead {
  /** As it is written; within a block from the root. */
  readonly path: string;
  readonly at: Place;
  /** Readings of it, and those that found nothing. */
  readonly total: number;
  readonly absent: readonly SampledScope[];
  /** Readings that printed nothing since it was absent. */
  readonly blank: readonly SampledScope[];
  /** The expression that prints it, as written. */
  readonly expression?: string;
  /** The last keys of it, which are all that is written, in a block. */
  readonly inBlock: boolean;
}

interface Printed {
  readonly at: Place;
  readonly path: string;
  readonly expression: string;
  total: number;
  readonly blank: SampledScope[];
}

/** Every path of a template that was read at all. */
export function countReads(
  template: CompiledTemplate,
  scopes: readonly SampledScope[],
): readonly CountedRead[] {
  const printed = [...countPrinted(template, scopes).values()];
  const { readsAt = [] } = template;
  const outside = readsAt.map(({ keys, at }): CountedRead => {
    const read = compileReader(keys);
    const own = printed.find((each) => each.at.start <= at.start && at.end <= each.at.end);
    return {
      path: keys.join('.'),
      at,
      total: scopes.length,
      absent: scopes.filter(({ scope }) => read(scope) === undefined),
      blank: own?.blank ?? [],
      ...(own === undefined ? {} : { expression: own.expression }),
      inBlock: false,
    };
  });
  const isOutside = ({ at }: Printed): boolean =>
    readsAt.some((read) => at.start <= read.at.start && read.at.end <= at.end);
  const inBlocks = printed
    .filter((each) => !isOutside(each))
    .map((each) => ({ ...each, absent: each.blank, inBlock: true }));
  return [...outside, ...inBlocks];
}

/** What each expression printed, by where it stands. */
function countPrinted(
  template: CompiledTemplate,
  scopes: readonly SampledScope[],
): ReadonlyMap<number, Printed> {
  const counted = new Map<number, Printed>();
  for (const sampled of scopes) {
    for (const { at, path, text, expression = '' } of piecesOf(template, sampled)) {
      if (at === undefined || path === undefined) continue;
      const known = counted.get(at.start) ?? { at, path, expression, total: 0, blank: [] };
      counted.set(at.start, known);
      known.total += 1;
      const isAbsent = text === '' && compileReader(path.split('.'))(sampled.scope) === undefined;
      if (isAbsent) known.blank.push(sampled);
    }
  }
  return counted;
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
