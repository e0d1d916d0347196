import type { Confidence, Finding } from '../finding.ts';
import type { AnyRule } from './rule.ts';
import { RULES } from './rules.ts';

/** The surest first. */
const ORDER: readonly Confidence[] = ['certain', 'likely', 'guess'];

/** Adds to findings of the engine what to do about them; a finding that no rule knows stays as it is. */
export function advise(findings: readonly Finding[], rules: readonly AnyRule[] = RULES): readonly Finding[] {
  const byCode = Map.groupBy(rules, ({ on }) => on);
  return findings.map((finding) => {
    if (finding.hint !== undefined) return finding;
    const own = byCode.get(finding.code) ?? [];
    for (const confidence of ORDER) {
      for (const each of own) {
        const advice = each.confidence === confidence ? each.advise(finding) : undefined;
        if (advice !== undefined) return { ...finding, ...advice };
      }
    }
    return finding;
  });
}
