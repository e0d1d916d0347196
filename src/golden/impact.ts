import type { GoldenCase } from './case-file.ts';
import { formatDifference } from './reporters.ts';
import { runCase, type GoldenEngine } from './run-cases.ts';

/** One recorded request that the two sides treat differently. */
interface OutcomeChange {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

export interface ImpactReport {
  readonly compared: number;
  readonly changes: readonly OutcomeChange[];
}

/**
 * Evaluates every recorded request with both sides (a base revision's mappings and transforms, and the working
 * tree's) and lists which outcomes change. Expectation files play no part.
 */
export async function compareOutcomes(
  cases: readonly GoldenCase[],
  before: GoldenEngine,
  after: GoldenEngine,
  onProgress?: (done: number) => void,
): Promise<ImpactReport> {
  const changes: OutcomeChange[] = [];
  for (const [index, golden] of cases.entries()) {
    const [old, current] = [await runCase(golden, before), await runCase(golden, after)];
    if (old.actualText !== current.actualText) {
      changes.push({ name: golden.name, before: old.actualText, after: current.actualText });
    }
    onProgress?.(index + 1);
  }
  return { compared: cases.length, changes };
}

/** Prints the changes for people: the request, one line of what it means, the difference. */
export function formatImpact(report: ImpactReport, color: boolean): string {
  const blocks = report.changes.map(
    (change) =>
      `~ ${change.name}\n${formatDifference(change.before, change.after, color).replaceAll(/^(?=.)/gm, '  ')}\n`,
  );
  return `${[...blocks, `${report.changes.length} of ${report.compared} recorded requests change outcome`].join('\n')}\n`;
}
