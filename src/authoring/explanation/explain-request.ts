import { defined } from '../../base/json.ts';
import { type FindingSubject, inLine, printSentence, say } from '../../base/finding.ts';
import {
  ADVICE_CODES,
  adviceFor,
  adviceOnUnread,
  type EvaluationAdvice,
  evaluationFindings,
  type FoundText,
  type NearFacts,
  type NoteCode,
  type NoteJson,
  requestFinding,
  type SettingJson,
  toNote,
  toSetting,
  withCodes,
} from '../advice/requests.ts';
import { advise } from '../advice/advice.ts';
import { formatPlace, type Finding } from '../../base/document/document.ts';
import { HookError } from '../../base/errors.ts';
import {
  evaluationToJson,
  receiveWritten,
  unreadEvaluation,
  type Evaluation,
  type WrittenRequest,
} from '../../engine/hook/hook.ts';
import type { EvaluationJson } from '../../engine/hook/facts.ts';
import type { HookRequest, JsonValue } from '../../base/request.ts';
import { settingNotes, type RequestHistory } from './setting-notes.ts';

export interface Explainer {
  readonly generation: Pick<RequestHistory, 'config' | 'table'> & {
    evaluate(
      request: HookRequest,
      how: { readonly detail: 'full'; readonly results?: readonly JsonValue[] },
    ): Evaluation | Promise<Evaluation>;
  };
  readonly findings: readonly Finding[];
}

export interface RequestExplanation {
  readonly request: HookRequest;
  /** Set where the path does not accept POST. */
  readonly method?: 'GET';
  readonly evaluation: Evaluation;
  readonly advice: EvaluationAdvice;
}

/**
 * Evaluates a request with the mappings and transforms as they are, and looks at what was probably meant. `results` has
 * what transforms returned for a request that was stored without values; its warnings are stored with the decision.
 */
export async function explainRequest(
  request: HookRequest,
  { generation, findings }: Explainer,
  results?: readonly JsonValue[],
): Promise<RequestExplanation> {
  const judged = await generation.evaluate(request, { detail: 'full', ...defined({ results }) });
  const warnings = results === undefined ? advise(judged.warnings) : [];
  const evaluation = { ...judged, warnings };
  const { config, table } = generation;
  const found = adviceFor(evaluation, request, table);
  // Where the stored request has no account, the decision knows more.
  const settings = settingNotes({ config, table, evaluated: { request, evaluation } }).filter(
    ({ subject }) => results === undefined || subject?.setting !== 'ignoreSenders',
  );
  const wrong = wrongTransform(evaluation, findings);
  const advice = { ...found, findings: [...found.findings, ...passedOver(findings), ...wrong, ...settings] };
  const { method } = table.settingsOf(request.path);
  return { request, evaluation, advice, ...(method === 'GET' ? { method } : {}) };
}

/** Reads a request as its sender writes it, or says why it cannot be read. */
export async function explainWritten(
  written: WrittenRequest,
  explainer: Explainer,
): Promise<RequestExplanation> {
  const { request } = written;
  const { table } = explainer.generation;
  try {
    return await explainRequest(await receiveWritten(written, table.settingsOf(request.path)), explainer);
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    return { request, evaluation: unreadEvaluation(error), advice: adviceOnUnread(error, request, table) };
  }
}

/** The mapping that is looked for may stand in a file that is not read. */
function passedOver(findings: readonly Finding[]): readonly Finding[] {
  return findings
    .filter(({ code }) => code === 'MAPPING_FILE_PASSED_OVER')
    .map(({ message, at }) => requestFinding('passed_over', say`${at?.source.file ?? ''}: ${message}`));
}

/** What the code of a transform lacks may make each call fail. */
function wrongTransform({ trace, outcome }: Evaluation, findings: readonly Finding[]): readonly Finding[] {
  const failed = trace.transforms.find(
    ({ reply, problem }) => reply.kind === 'failed' || problem !== undefined,
  );
  if (failed === undefined || outcome.kind !== 'rejected' || outcome.error.code !== 'transform_failed')
    return [];
  const found = findings.find(
    ({ code, at }) =>
      code === 'TRANSFORM_MISSING_GLOBAL' && at?.source.file.endsWith(`/${failed.call.ref.module}`) === true,
  );
  return found?.at === undefined || found.hint === undefined
    ? []
    : [requestFinding('remedy', say`${formatPlace(found.at)}: ${inLine(found)}`)];
}

export interface ExplanationJson extends EvaluationJson {
  readonly request: Omit<HookRequest, 'receivedAt'> & { readonly receivedAt: string };
  readonly advice: {
    /** Set for a hook name that no mapping has. */
    readonly nearNames: readonly {
      readonly name: string;
      readonly at: string;
      readonly why: string;
      readonly remedy?: string;
    }[];
    /** What the request has in place of what was missing. */
    readonly instead: readonly { readonly missing: string; readonly found: string }[];
    /** Where the body has a text that a condition looked for at another place, or one that is nearly so. */
    readonly elsewhere: readonly { readonly wanted: string; readonly text: string; readonly at: string }[];
    /** The most certain advice on the part of a condition that failed. */
    readonly leaves: readonly { readonly at: string; readonly text: string }[];
    readonly notes: readonly string[];
    readonly alsoMatched: readonly NonNullable<FindingSubject['mapping']>[];
    readonly passedOver: readonly string[];
    /** Empty: version 1 listed fields here. `request` has them all. */
    readonly fields: { readonly fields: readonly object[]; readonly more: number };
    /** Settings that took part, with what each did. */
    readonly settings: readonly SettingJson[];
  };
  /** Everything that the text says beside the bare facts, in its order. */
  readonly notes: readonly NoteJson[];
}

/** Turns an explanation into plain data: request, decision, condition trees, templates, transforms, actions, advice. */
export function explanationToJson({ request, evaluation, advice }: RequestExplanation): ExplanationJson {
  const of = (...codes: readonly NoteCode[]): readonly Finding[] => withCodes(advice.findings, ...codes);
  const textsOf = (...codes: readonly NoteCode[]): readonly string[] =>
    of(...codes).map(({ message }) => printSentence(message));
  return {
    request: { ...request, receivedAt: new Date(request.receivedAt).toISOString() },
    ...evaluationToJson(evaluation),
    advice: {
      nearNames: of('near_name').map(({ hint, facts }) => {
        const { why, ...name } = facts as NearFacts;
        return { ...name, why: printSentence(why), ...defined({ remedy: hint && printSentence(hint) }) };
      }),
      instead: [...advice.suggestions].map(([missing, { names }]) => ({
        missing,
        found: names.join(' and '),
      })),
      elsewhere: of('found_elsewhere').map(({ facts }) => {
        const { wanted, text, at } = facts as FoundText;
        return { wanted, text, at };
      }),
      leaves: of('leaf_advice').map(({ at, message }) => ({
        at: at === undefined ? '' : formatPlace(at),
        text: printSentence(message),
      })),
      notes: textsOf(...ADVICE_CODES),
      alsoMatched: of('also_matched').flatMap(({ subject }) => subject?.mapping ?? []),
      passedOver: textsOf('passed_over'),
      fields: { fields: [], more: 0 },
      settings: of('setting').map(toSetting),
    },
    notes: evaluationFindings(evaluation, advice).map(toNote),
  };
}
