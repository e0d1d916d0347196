import type { Finding } from '../../base/finding.ts';

/** One mistake that the engine meets as several findings, of which each by itself would lead astray. */
export interface Join {
  /** Its codes. */
  readonly on: readonly string[];
  /** Gets all findings of these codes in one file, in their order; gives those that are told. */
  readonly join: (found: readonly Finding[]) => readonly Finding[];
}

/** The findings with those of one mistake as one, where the first of them stood. */
export function joinFindings(findings: readonly Finding[], joins: readonly Join[]): readonly Finding[] {
  return joins.reduce<readonly Finding[]>((left, { on, join }) => {
    const codes: ReadonlySet<string> = new Set(on);
    const own = left.filter(({ code, at }) => at && codes.has(code));
    const files = Map.groupBy(own, ({ at }) => at?.source.file);
    return [...files.values()].reduce((all, inFile) => replace(all, inFile, join(inFile)), left);
  }, findings);
}

function replace(
  all: readonly Finding[],
  before: readonly Finding[],
  after: readonly Finding[],
): readonly Finding[] {
  const gone = before.filter((each) => !after.includes(each));
  const made = after.filter((each) => !before.includes(each));
  return all.flatMap((each) => (each === gone[0] ? made : gone.includes(each) ? [] : [each]));
}
