import { rm, writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Finding } from '../../base/document/document.ts';
import type { Evaluation, WrittenRequest } from '../../engine/hook/hook.ts';
import type { EvaluationAdvice } from '../advice/requests.ts';
import type { HookRequest } from '../../base/request.ts';
import type { DeliveryRequest, FoundCases, GoldenCase } from './case-file.ts';
import {
  describeEvaluation,
  printExpectation,
  wholeExpectation,
  type AcceptedAs,
  type Expectation,
} from './expectation.ts';
import { fromFirstFormat, isFirstFormat, type Became } from './first-format.ts';

/** What the runner needs of the service: its own evaluator, and a store for cases with several deliveries. */
export interface GoldenEngine {
  /** Evaluates with full detail, transforms included. */
  evaluate(request: WrittenRequest): Promise<Evaluation>;
  /** What may have been meant by a request that became something else than was expected. */
  advise?(evaluation: Evaluation, request: HookRequest): EvaluationAdvice;
  /** A fresh, empty store's accept, for dedupe and idempotency. */
  openAcceptor(): Promise<Acceptor>;
}

export interface Acceptor {
  accept(delivery: DeliveryRequest, evaluation: Evaluation): Promise<AcceptedAs>;
  close(): Promise<void>;
}

/**
 * `none` writes nothing (CI), `new` only what is missing, `all` also what differs and removes what is obsolete;
 * `migrate` what is missing, and what is in the form of an earlier version, the same in the form of this one.
 */
export type UpdatePolicy = 'none' | 'new' | 'all' | 'migrate';

/** Whether nothing may be written: `CI` counts as set unless it is `false`, `0` or empty. */
export function isCi(env: NodeJS.ProcessEnv): boolean {
  return !['', 'false', '0'].includes((env['CI'] ?? '').toLowerCase());
}

export type CaseStatus = 'passed' | 'failed' | 'missing' | 'written' | 'updated' | 'migrated';

export interface CaseResult {
  readonly case: GoldenCase;
  readonly status: CaseStatus;
  /** The expectation file as it should read. */
  readonly actualText: string;
  /** The same as data. */
  readonly actual: unknown;
  /** What the expectation file says, in the form of this version; absent where there is none. */
  readonly expected?: { readonly text: string; readonly value: unknown; readonly isFirstFormat: boolean };
  readonly evaluations: readonly Evaluation[];
  /** Of each delivery, where the case did not pass. */
  readonly advice: readonly (EvaluationAdvice | undefined)[];
  readonly tookMs: number;
}

export interface RunReport {
  readonly results: readonly CaseResult[];
  readonly findings: readonly Finding[];
  /** Obsolete expectation files that were removed (`--update` only). */
  readonly removed: readonly string[];
  readonly tookMs: number;
}

export interface RunOptions {
  readonly policy: UpdatePolicy;
  /** Cases evaluated at the same time; default 8. */
  readonly concurrency?: number;
  onResult?(result: CaseResult): void;
}

/** Runs every case and applies the update policy; results keep the order of the cases. */
export async function runCases(
  found: FoundCases,
  engine: GoldenEngine,
  options: RunOptions,
): Promise<RunReport> {
  const startedAt = performance.now();
  const results: CaseResult[] = [];
  const waiting = found.cases.entries();
  const worker = async (): Promise<void> => {
    for (const [index, golden] of waiting) {
      const result = await applyPolicy(await runCase(golden, engine), options.policy);
      results[index] = result;
      options.onResult?.(result);
    }
  };
  await Promise.all(Array.from({ length: options.concurrency ?? 8 }, worker));
  const { removed, findings } = await removeObsolete(found, options.policy);
  return { results, findings, removed, tookMs: performance.now() - startedAt };
}

/** Runs one case and compares; writes nothing. */
export async function runCase(golden: GoldenCase, engine: GoldenEngine): Promise<CaseResult> {
  const startedAt = performance.now();
  const { evaluations, expectations } = await evaluateAll(golden, engine);
  const actual = wholeExpectation(expectations, golden.several);
  const actualText = printExpectation(actual);
  const expected = readExpectation(golden, { evaluations, expectations });
  const status = compare(expected, actualText, actual);
  const advise = (evaluation: Evaluation, index: number): EvaluationAdvice | undefined => {
    const request = golden.deliveries[index]?.request;
    return request === undefined || status === 'passed' ? undefined : engine.advise?.(evaluation, request);
  };
  return {
    case: golden,
    status,
    actualText,
    actual,
    ...(expected === undefined ? {} : { expected }),
    evaluations,
    advice: evaluations.map(advise),
    tookMs: performance.now() - startedAt,
  };
}

/** What each delivery becomes; in a case of several, after those before it. */
async function evaluateAll(golden: GoldenCase, engine: GoldenEngine): Promise<Became> {
  const evaluations: Evaluation[] = [];
  const expectations: Expectation[] = [];
  const acceptor = golden.several ? await engine.openAcceptor() : undefined;
  try {
    for (const delivery of golden.deliveries) {
      const evaluation = await engine.evaluate(delivery);
      evaluations.push(evaluation);
      expectations.push(describeEvaluation(evaluation, await acceptor?.accept(delivery, evaluation)));
    }
  } finally {
    await acceptor?.close();
  }
  return { evaluations, expectations };
}

/** Same text is the fast answer; else the values count, so that re-formatting a file by hand is no difference. */
function compare(expected: CaseResult['expected'], actualText: string, actual: unknown): CaseStatus {
  if (expected === undefined) return 'missing';
  if (expected.text === actualText) return 'passed';
  return isDeepStrictEqual(toPlain(expected.value), toPlain(actual)) ? 'passed' : 'failed';
}

function readExpectation({ expected }: GoldenCase, became: Became): CaseResult['expected'] {
  if (expected === undefined || !isFirstFormat(expected.value))
    return expected && { ...expected, isFirstFormat: false };
  const value = fromFirstFormat(expected.value, became);
  return { text: printExpectation(value), value, isFirstFormat: true };
}

const toPlain = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));

/** Writes what the policy allows and says what was done. */
export async function applyPolicy(result: CaseResult, policy: UpdatePolicy): Promise<CaseResult> {
  if (result.status === 'missing' && policy !== 'none') {
    await writeFile(result.case.expectedFile, result.actualText);
    return { ...result, status: 'written' };
  }
  if (policy === 'migrate' && result.expected?.isFirstFormat === true) {
    const isSame = result.status === 'passed';
    await writeFile(result.case.expectedFile, isSame ? result.actualText : result.expected.text);
    return isSame ? { ...result, status: 'migrated' } : result;
  }
  if (result.status === 'failed' && policy === 'all') {
    await writeFile(result.case.expectedFile, result.actualText);
    return { ...result, status: 'updated' };
  }
  return result;
}

/** Only `--update` removes files, and only expectations that no request goes with. */
async function removeObsolete(
  found: FoundCases,
  policy: UpdatePolicy,
): Promise<Pick<RunReport, 'removed' | 'findings'>> {
  if (policy !== 'all') return { removed: [], findings: found.findings };
  await Promise.all(found.obsolete.map((file) => rm(file)));
  const findings = found.findings.filter((finding) => finding.code !== 'OBSOLETE_EXPECTATION');
  return { removed: found.obsolete, findings };
}

/** Whether a report means exit code 1. */
export function hasFailed(report: RunReport): boolean {
  return (
    report.results.some((result) => result.status === 'failed' || result.status === 'missing') ||
    report.findings.some((finding) => finding.severity === 'error')
  );
}
