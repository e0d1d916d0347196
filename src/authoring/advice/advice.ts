import type { Finding, Subject } from '../../base/finding.ts';
import type { MappingSubject } from '../../engine/mapping/facts.ts';
import { type LookFinding, type Join, type Look, withAdvice } from './rule.ts';
import { JOINS, LOOKS, REMEDIES, RULES } from './rules.ts';
import { findingInOpenClawFile } from './openclaw-files.ts';

/**
 * Adds to the engine's findings what to do about them, and adds findings of its own. A finding that no rule
 * knows stays as it is.
 */
export function advise(
  findings: readonly Finding[],
  subjects: readonly Subject[] = [],
  looks: readonly Look[] = LOOKS,
): readonly Finding[] {
  const looked = subjects.flatMap((subject) =>
    looks.filter(({ on }) => on === subject.kind).flatMap((look) => lookAt(look, subject)),
  );
  const settled = new Set(looked.flatMap(({ replaces = [] }) => replaces));
  const left = findings.filter((finding) => !settled.has(finding));
  // A transform of such a mapping has a file of its own.
  const openClawPlace = subjects.find(isOfOpenClaw)?.compiled.at;
  return inOrder(JOINS.reduce(joined, left), looked).map((finding) =>
    findingInOpenClawFile(
      advised(finding),
      finding.code.startsWith('TRANSFORM_') ? (openClawPlace ?? finding.at) : finding.at,
    ),
  );
}

function advised(finding: Finding): Finding {
  const { code } = finding;
  const known = withAdvice(finding, RULES[code as keyof typeof RULES]);
  const hint = REMEDIES[code];
  // A caller that knows findings by identity still recognises one that has a hint already.
  return known.hint !== undefined || hint === undefined ? known : { ...known, hint };
}

const isOfOpenClaw = (subject: Subject): subject is MappingSubject =>
  subject.kind === 'mapping' && (subject as MappingSubject).compiled.at.source.isOpenClaw === true;

function lookAt(
  { codes, find }: Look,
  subject: Subject,
): readonly (Finding & Pick<LookFinding, 'replaces'>)[] {
  const found = (find as (subject: Subject) => readonly LookFinding[])(subject);
  return found.map((each) => ({ severity: 'warning', code: codes[0], ...each }));
}

/** Findings of one mistake become one finding, in the place of the first. */
function joined(findings: readonly Finding[], { on, join }: Join): readonly Finding[] {
  const own = findings.filter(({ code, at }) => at && on.includes(code));
  const files = Map.groupBy(own, ({ at }) => at?.source.file);
  return [...files.values()].reduce((all, before) => {
    const after = join(before);
    const gone = before.filter((each) => !after.includes(each));
    const made = after.filter((each) => !before.includes(each));
    return all.flatMap((each) => (each === gone[0] ? made : gone.includes(each) ? [] : [each]));
  }, findings);
}

function inOrder(
  findings: readonly Finding[],
  looked: readonly (Finding & Pick<LookFinding, 'replaces'>)[],
): readonly Finding[] {
  const all = [...findings];
  for (const { replaces: _, ...each } of looked) {
    const { source, start } = each.at ?? {};
    const isBefore = ({ at }: Finding): boolean => at?.source === source && (at?.start ?? 0) <= (start ?? 0);
    const before = all.findLastIndex(isBefore);
    const first = all.findIndex(({ at }) => at !== undefined && at.source === source);
    all.splice(before === -1 ? (first === -1 ? all.length : first) : before + 1, 0, each);
  }
  return all;
}
