import { byWeight, type Finding, type LocatedValue } from '../../base/document/document.ts';
import { siftIgnored } from '../../base/ignored.ts';
import type { Subject } from '../../base/finding.ts';
import { hideValues } from '../../engine/config/config.ts';

/**
 * Gives each finding a hint and an edit where something is known of it, and finds warnings in subjects, which refuse
 * nothing.
 */
export type Advise = (
  findings: readonly Finding[],
  subjects: readonly Subject[],
) => readonly Finding[] | Promise<readonly Finding[]>;

/** The findings that are reported, and those that a comment says are meant. */
export async function reportFindings(
  found: readonly Finding[],
  subjects: readonly Subject[],
  {
    advise,
    isServing = false,
    secrets,
  }: {
    readonly advise?: Advise | undefined;
    readonly isServing?: boolean;
    readonly secrets: readonly string[];
  },
): Promise<ReturnType<typeof siftIgnored>> {
  const isSaid = advise === undefined || (isServing && found.length === 0);
  const looked = subjects as readonly { readonly root?: LocatedValue; readonly located?: LocatedValue }[];
  const files = looked.flatMap(({ root, located = root }) => located?.place([]).source ?? []);
  const { findings, ignored } = siftIgnored(isSaid ? found : await advise(found, subjects), files);
  return { findings: byWeight(hideValues(findings, secrets)), ignored };
}
