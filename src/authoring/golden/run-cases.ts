import type { AgentAction } from '../../base/action.ts';
import { NeutralisedTexts } from '../../base/boundary/boundary.ts';
import { defined } from '../../base/json.ts';
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
  WRONG_RESULT,
  type AcceptedAs,
  type Expectation,
} from './expectation.ts';

/** What the runner needs of the service: its own evaluator, and a store for cases with several deliveries. */
export interface GoldenEngine {
  /** Evaluates with full detail, transforms included. */
  evaluate(request: WrittenRequest): Promise<Evaluation>;
  /** Advises on a request that became something else than was expected. */
  advise?(evaluation: Evaluation, request: HookRequest): EvaluationAdvice;
  /** Opens a fresh, empty store for dedupe and idempotency. */
  openAcceptor(): Promise<Acceptor>;
}

export interface Acceptor {
  accept(delivery: DeliveryRequest, evaluation: Evaluation): Promise<AcceptedAs>;
  close(): Promise<void>;
}

/**
 * `none` writes nothing (CI), and `new` only what is missing. `all` also writes what differs and removes what is
 * obsolete. `migrate` writes what is missing, and rewrites the form of an earlier version in the form of this one.
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
  readonly actualText: string;
  readonly actual: unknown;
  /** What the expectation file says, in the form of this version; absent where there is none. */
  readonly expected?: { readonly text: string; readonly value: unknown; readonly isFirstFormat: boolean };
  readonly evaluations: readonly Evaluation[];
  /** The advice for each delivery, where the case did not pass. */
  readonly advice: readonly (EvaluationAdvice | undefined)[];
  readonly tookMs: number;
}

export interface RunReport {
  readonly results: readonly CaseResult[];
  readonly findings: readonly Finding[];
  readonly removed: readonly string[];
  readonly tookMs: number;
}

/** So many cases are evaluated at the same time. */
const AT_ONCE = 8;

/** Runs every case and applies the update policy; results keep the order of the cases. */
export async function runCases(
  found: FoundCases,
  engine: GoldenEngine,
  { policy }: { readonly policy: UpdatePolicy },
): Promise<RunReport> {
  const startedAt = performance.now();
  const results: CaseResult[] = [];
  const waiting = found.cases.entries();
  const worker = async (): Promise<void> => {
    for (const [index, golden] of waiting) {
      results[index] = await applyPolicy(await runCase(golden, engine), policy);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const { removed, findings } = await removeObsolete(found, policy);
  return { results, findings, removed, tookMs: performance.now() - startedAt };
}

/** Runs one case and compares; writes nothing. */
export async function runCase(golden: GoldenCase, engine: GoldenEngine): Promise<CaseResult> {
  const startedAt = performance.now();
  const { evaluations, expectations } = await evaluateAll(golden, engine);
  const actual = wholeExpectation(expectations, golden.isList);
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

/** In a case of several, each delivery comes after those before it; one with conversations finds them in the store. */
async function evaluateAll(golden: GoldenCase, engine: GoldenEngine): Promise<CaseOutcome> {
  const evaluations: Evaluation[] = [];
  const expectations: Expectation[] = [];
  const isStored =
    golden.isList || golden.deliveries.some(({ conversations }) => conversations !== undefined);
  const acceptor = isStored ? await engine.openAcceptor() : undefined;
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

/**
 * Equal texts are the fast answer. Otherwise the values count, so that re-formatting a file by hand makes
 * no difference.
 */
function compare(expected: CaseResult['expected'], actualText: string, actual: unknown): CaseStatus {
  if (expected === undefined) return 'missing';
  if (expected.text === actualText) return 'passed';
  return isDeepStrictEqual(toPlain(expected.value), toPlain(actual)) ? 'passed' : 'failed';
}

function readExpectation({ expected }: GoldenCase, became: CaseOutcome): CaseResult['expected'] {
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

interface CaseOutcome {
  readonly evaluations: readonly Evaluation[];
  readonly expectations: readonly Expectation[];
}

const isFirstFormat = (value: unknown): boolean => isRecord(value) && value['format'] === undefined;

/**
 * Reads an expectation as version 0.1.0 wrote it, without `format`: whole prompts with the boundary's
 * paragraph and its id, and sentences of Sluice behind the codes. It is compared by code and field, so no
 * sentence counts. A part that cannot be read stays as it is, and so differs.
 */
function fromFirstFormat(value: unknown, { evaluations, expectations }: CaseOutcome): unknown {
  if (!isRecord(value)) return value;
  const { deliveries } = value;
  const several = Array.isArray(deliveries);
  const read = (several ? deliveries : [value]).map((one, index) =>
    readDelivery(one, evaluations[index], expectations[index]),
  );
  return wholeExpectation(read, several);
}

function readDelivery(value: unknown, became?: Evaluation, now: Expectation = {}): Expectation {
  if (!isRecord(value)) return { value };
  const runs = became?.outcome.kind === 'accepted' ? became.outcome.actions : [];
  const { field } = now;
  const readers: Readonly<Record<string, (one: unknown, index: number) => unknown>> = {
    errors: withoutMessage,
    actions: (one, index) => {
      const run = runs[index];
      return readAction(one, run?.kind === 'agent' ? run : undefined, became?.mapping?.instructions);
    },
    warnings: (one) => readWarning(one, became?.warnings ?? []),
    failures: (one, index) =>
      readFailure(one, Array.isArray(now['failures']) ? now['failures'][index] : undefined),
  };
  const entries = Object.entries(value).flatMap(([key, part]): readonly (readonly [string, unknown])[] => {
    // Version 0.1.0 named the field only in the sentence.
    if (key === 'detail') return field === undefined ? [] : [['field', field]];
    const read = readers[key];
    return [[key, read === undefined || !Array.isArray(part) ? part : part.map(read)]];
  });
  return Object.fromEntries(entries);
}

function withoutMessage(error: unknown): unknown {
  if (!isRecord(error)) return error;
  const { message: _, ...others } = error;
  return others;
}

/** Matches `CODE FIELD: sentence`; the sender's name of a field may hold a colon. */
function readWarning(text: unknown, found: Evaluation['warnings']): unknown {
  if (typeof text !== 'string') return text;
  const same = found.find(({ code, subject }) =>
    text.startsWith(subject?.field === undefined ? `${code}: ` : `${code} ${subject.field}: `),
  );
  const [, code, field] = /^(\w+)(?: (.*?))?: /.exec(text) ?? [];
  if (same === undefined && code === undefined) return text;
  return defined({ code: same?.code ?? code, field: same === undefined ? field : same.subject?.field });
}

/** Matches `MODULE: CODE: sentence`, or `MODULE: sentence` of a result that makes no action. */
function readFailure(text: unknown, now: unknown): unknown {
  const [, module, rest = ''] = typeof text === 'string' ? (/^(.*?): ([^]*)$/.exec(text) ?? []) : [];
  if (module === undefined) return text;
  const [, code, error] = /^([a-z]+(?:-[a-z]+)*): ([^]*)$/.exec(rest) ?? [];
  if (code !== undefined) return { module, code, ...(code === 'user-error' ? { error } : {}) };
  // Version 0.1.0 named the key only in the sentence.
  const isSame = isRecord(now) && now['module'] === module && now['code'] === WRONG_RESULT;
  return isSame ? now : { module, code: WRONG_RESULT };
}

const PROMPT =
  /^(?:([^]*?)\n\n)?The text between the two markers with the id (\w+) [^]*?\n<<<EXTERNAL_CONTENT id="\2">>>\nSource: webhook(?: \(([^\n]*)\))?\nHook: [^\n]*\n---\n([^]*)\n<<<END_EXTERNAL_CONTENT id="\2">>>$/;

function readAction(value: unknown, run: AgentAction | undefined, instructions = ''): unknown {
  if (!isRecord(value) || typeof value['prompt'] !== 'string') return value;
  const { prompt, ...others } = value;
  const own = defined({ instructions: instructions.trim() || undefined });
  // A trusted prompt does not mark where the message begins.
  if (run?.origin.trusted === true && run.prompt === prompt)
    return { ...others, ...own, message: run.message };
  const [, before, , source, text] = PROMPT.exec(prompt) ?? [];
  if (text === undefined) return value;
  // The message is what is left behind the boundary.
  const message =
    run !== undefined && new NeutralisedTexts().neutralise(run.message) === text ? run.message : text;
  return { ...others, ...defined({ instructions: before, boundary: 'v1', source, message }) };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
