import { printInLine, printSentence } from '../finding.ts';
import {
  advisedWarnings,
  adviceFor,
  type EvaluationAdvice,
  type EvaluationNote,
  evaluationNotes,
  type FieldList,
  type LaterMapping,
  type NearHookName,
  listNamed,
} from '../advice/requests.ts';
import { formatPlace, type Finding } from '../document/document.ts';
import { evaluationToJson, type Evaluation } from '../hook/hook.ts';
import type { EvaluationJson } from '../hook/facts.ts';
import type { HookRequest } from '../request.ts';
import { templateWarnings } from './template-warnings.ts';
import { withUnsigned } from './unsigned-fields.ts';
import { settingNotes, type Happened, type SettingNote } from './setting-notes.ts';

/** What explains: the mappings and transforms as they are, with what was found in their files. */
export interface Explainer {
  readonly generation: Pick<Happened, 'config' | 'table'> & {
    evaluate(request: HookRequest, detail: 'full'): Evaluation | Promise<Evaluation>;
  };
  readonly diagnostics: readonly Finding[];
}

/** A request with what it becomes, and why. */
export interface RequestExplanation {
  readonly request: HookRequest;
  readonly evaluation: Evaluation;
  readonly advice: EvaluationAdvice;
}

/** Evaluates a request with the mappings and transforms as they are, and looks at what was probably meant. */
export async function explainRequest(
  request: HookRequest,
  { generation, diagnostics }: Explainer,
): Promise<RequestExplanation> {
  const judged = await generation.evaluate(request, 'full');
  const evaluation = { ...judged, warnings: advisedWarnings(judged.warnings) };
  const { config, table } = generation;
  const advice = {
    ...adviceFor(evaluation, request, table),
    passedOver: passedOver(diagnostics),
    transform: wrongTransform(evaluation, diagnostics),
    settings: [
      ...templateWarnings(evaluation, diagnostics),
      ...settingNotes({ config, table, evaluated: { request, evaluation } }),
    ],
  };
  return withUnsigned(withNamed({ request, evaluation, advice }), table);
}

/** With the fields that its notes name among those that are listed; `more`: what is said of it beside them. */
export function withNamed(
  { request, evaluation, advice }: RequestExplanation,
  more: readonly string[] = [],
): RequestExplanation {
  const { fields } = advice;
  if (fields === undefined) return { request, evaluation, advice };
  const texts = [...evaluationNotes(evaluation, advice).map(({ text }) => text), ...more];
  return { request, evaluation, advice: { ...advice, fields: listNamed(fields, texts, request) } };
}

/** Files of the mappings folder that are not read: the mapping that is looked for may stand in one. */
function passedOver(diagnostics: readonly Finding[]): readonly string[] {
  return diagnostics
    .filter(({ code }) => code === 'MAPPING_FILE_PASSED_OVER')
    .map(({ message, at }) => `${at?.source.file ?? ''}: ${printSentence(message)}`);
}

/** Findings on the code of a transform that make each call fail. */
const OF_CALLS: ReadonlySet<string> = new Set([
  'TRANSFORM_WEB_HANDLER',
  'TRANSFORM_ARGUMENT',
  'TRANSFORM_MISSING_GLOBAL',
]);

/** What is to be written in the file of a transform that failed. */
function wrongTransform({ trace }: Evaluation, diagnostics: readonly Finding[]): string | undefined {
  const failed = trace.transforms.find(
    ({ reply, problem }) => reply.kind === 'failed' || problem !== undefined,
  );
  const found =
    failed &&
    diagnostics.find(
      ({ code, at }) => OF_CALLS.has(code) && at?.source.file.endsWith(`/${failed.call.ref.module}`) === true,
    );
  if (found?.at === undefined || found.hint === undefined) return undefined;
  return `${formatPlace(found.at)}: ${printInLine(found)}`;
}

/** An explanation as `explain --json` prints it. */
export interface ExplanationJson extends EvaluationJson {
  readonly request: Omit<HookRequest, 'receivedAt'> & { readonly receivedAt: string };
  readonly advice: {
    /** Of a hook name that no mapping has. */
    readonly nearNames: readonly NearHookName[];
    /** What the request has in place of what was missing. */
    readonly instead: readonly { readonly missing: string; readonly found: string }[];
    /** Where the body has a text that a condition looked for at another place, or one that is nearly so. */
    readonly elsewhere: readonly { readonly wanted: string; readonly text: string; readonly at: string }[];
    /** What is surest to say of the part of a condition that failed. */
    readonly leaves: readonly { readonly at: string; readonly text: string }[];
    readonly notes: readonly string[];
    readonly alsoMatched: readonly LaterMapping[];
    readonly passedOver: readonly string[];
    /** What the request holds, and what reads it; of a large one what is read and what stands near it. */
    readonly fields: FieldList;
    /** Settings that took part, with what each did. */
    readonly settings: readonly SettingNote[];
  };
  /** Everything that the text says beside the bare facts, in its order. */
  readonly notes: readonly EvaluationNote[];
}

/** Turns an explanation into plain data: request, decision, condition trees, templates, transforms, actions, advice. */
export function explanationToJson({ request, evaluation, advice }: RequestExplanation): ExplanationJson {
  return {
    request: { ...request, receivedAt: new Date(request.receivedAt).toISOString() },
    ...evaluationToJson(evaluation),
    advice: {
      nearNames: advice.nearNames,
      instead: [...advice.instead].map(([missing, { text }]) => ({ missing, found: text })),
      elsewhere: [...advice.foundAt].map(([wanted, { at, text }]) => ({ wanted, at, text })),
      leaves: [...(advice.leaves ?? [])].flatMap(([at, texts]) =>
        texts.map((text) => ({ at: formatPlace(at), text })),
      ),
      notes: (advice.notes ?? []).map(({ text }) => text),
      alsoMatched: advice.alsoMatched,
      passedOver: advice.passedOver ?? [],
      fields: advice.fields ?? { fields: [], more: 0 },
      settings: advice.settings ?? [],
    },
    notes: evaluationNotes(evaluation, advice),
  };
}
