import type { Finding, Subject } from '../../base/finding.ts';
import type { MappingSubject } from '../../engine/mapping/facts.ts';
import { joinFindings } from './join.ts';
import { type AnyLook, type AnyRule, withAdvice } from './rule.ts';
import { JOINS, LOOKS, RULES } from './rules.ts';
import { findingInTheirFile } from './their-files.ts';

/**
 * Adds to findings of the engine what to do about them, and what is found in its subjects; a finding that no rule knows
 * stays as it is.
 */
export function advise(
  findings: readonly Finding[],
  subjects: readonly Subject[] = [],
  {
    rules = RULES,
    looks = LOOKS,
  }: { readonly rules?: readonly AnyRule[]; readonly looks?: readonly AnyLook[] } = {},
): readonly Finding[] {
  const byCode = Map.groupBy(rules, ({ on }) => on);
  const looked = lookAt(subjects, looks);
  const settled = new Set(looked.flatMap(({ replaces = [] }) => replaces));
  const left = findings.filter((finding) => !settled.has(finding));
  const all = inOrder(joinFindings(left, JOINS), looked.map(asFinding));
  // A transform of such a mapping is in a file of its own.
  const theirs = subjects.find(isOfTheirs)?.compiled.at;
  return all.map((finding) => {
    const advised = withAdvice(finding, byCode.get(finding.code) ?? []);
    return findingInTheirFile(
      advised,
      finding.code.startsWith('TRANSFORM_') ? (theirs ?? finding.at) : finding.at,
    );
  });
}

const isOfTheirs = (subject: Subject): subject is MappingSubject =>
  subject.kind === 'mapping' && (subject as MappingSubject).compiled.at.source.isTheirs === true;

const asFinding = ({ replaces: _replaces, ...finding }: ReturnType<AnyLook['lookAt']>[number]): Finding =>
  finding;

/** In the order of the list, for each subject. */
function lookAt(subjects: readonly Subject[], looks: readonly AnyLook[]): ReturnType<AnyLook['lookAt']> {
  const byKind = Map.groupBy(looks, ({ on }) => on);
  return subjects.flatMap((subject) =>
    (byKind.get(subject.kind) ?? []).flatMap((each) => each.lookAt(subject)),
  );
}

/** What was looked for among what was found: in a file that has findings at its place, else at the end. */
function inOrder(findings: readonly Finding[], looked: readonly Finding[]): readonly Finding[] {
  const all = [...findings];
  for (const each of looked) {
    const { source, start } = each.at ?? {};
    const isBefore = ({ at }: Finding): boolean => at?.source === source && (at?.start ?? 0) <= (start ?? 0);
    const before = all.findLastIndex(isBefore);
    const first = all.findIndex(({ at }) => at !== undefined && at.source === source);
    all.splice(before === -1 ? (first === -1 ? all.length : first) : before + 1, 0, each);
  }
  return all;
}
