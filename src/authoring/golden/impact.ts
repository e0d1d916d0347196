import { setImmediate as immediate } from 'node:timers/promises';
import type { HookRequest } from '../../base/request.ts';
import type { GoldenCase } from './case-file.ts';
import { type Compared, type Effect, effectsOf } from './impact-words.ts';
import { formatDifference } from './reporters.ts';
import { runCase, type GoldenEngine } from './run-cases.ts';

/** One recorded request that the two sides treat differently. */
interface OutcomeChange {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** Line by line, for people. */
  readonly difference: string;
}

export interface CompareOptions {
  readonly after: GoldenEngine;
  /** Ends the comparison with its reason. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number) => void;
}

/** A request that is not in a file, as a case without expectation. */
export function caseOfRequest(request: HookRequest): GoldenCase {
  const { id: name } = request;
  const delivery = { request, isTimed: true };
  const at = { source: { file: name, text: '' }, start: 0, end: 0 };
  return {
    name,
    requestFile: '',
    expectedFile: '',
    deliveries: [delivery],
    several: false,
    at,
    warnings: [],
    files: [],
  };
}

export interface ImpactReport {
  readonly compared: number;
  readonly changes: readonly OutcomeChange[];
  /** What the change does, in words. */
  readonly effects: readonly Effect[];
}

/**
 * Evaluates every recorded request with both sides (a base revision's mappings and transforms, and the working
 * tree's) and lists which outcomes change. Expectation files play no part.
 */
export async function compareOutcomes(
  cases: readonly GoldenCase[],
  before: GoldenEngine,
  { after, signal, onProgress }: CompareOptions,
): Promise<ImpactReport> {
  const changes: OutcomeChange[] = [];
  const compared: Compared[] = [];
  for (const [index, golden] of cases.entries()) {
    signal?.throwIfAborted();
    // Whoever else works in this process gets a turn.
    await immediate();
    const { actualText: old, evaluations: was } = await runCase(golden, before);
    const { actualText: current, evaluations: is } = await runCase(golden, after);
    compared.push({ name: golden.name, before: was, after: is });
    if (old !== current) changes.push(changeOf(golden, old, current));
    onProgress?.(index + 1);
  }
  return { compared: cases.length, changes, effects: effectsOf(compared) };
}

function changeOf({ name }: GoldenCase, before: string, after: string): OutcomeChange {
  return { name, before, after, difference: formatDifference(before, after, false) };
}

/** Prints the changes for people: the request, one line of what it means, the difference. */
export function formatImpact(report: ImpactReport, color: boolean): string {
  const blocks = report.changes.map(
    (change) =>
      `~ ${change.name}\n${formatDifference(change.before, change.after, color).replaceAll(/^(?=.)/gm, '  ')}\n`,
  );
  const words = report.effects.map(({ text }) => `this change ${text}`);
  return `${[...blocks, ...words, `${report.changes.length} of ${report.compared} recorded requests change outcome`].join('\n')}\n`;
}
