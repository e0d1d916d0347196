/**
 * Reads expectations as version 0.1.0 wrote them, without `format`: whole prompts, with the paragraph of the boundary
 * and its id, and sentences of Sluice behind the codes. They are compared by code and field, so no sentence counts.
 */
import type { AgentAction } from '../../base/action.ts';
import { NeutralisedTexts } from '../../base/boundary/boundary.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';
import { defined } from '../../base/json.ts';
import { wholeExpectation, WRONG_RESULT, type Expectation } from './expectation.ts';

/** What such a file is compared with: what each delivery became, and how that is written now. */
export interface Became {
  readonly evaluations: readonly Evaluation[];
  readonly expectations: readonly Expectation[];
}

/** Whether an expectation file has no `format` yet. */
export const isFirstFormat = (value: unknown): boolean => isRecord(value) && value['format'] === undefined;

/** The same expectation in the form that is written now. What cannot be taken apart stays as it is, and so differs. */
export function fromFirstFormat(value: unknown, { evaluations, expectations }: Became): unknown {
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
    failures: (one, index) => readFailure(one, listIn(now, 'failures')[index]),
  };
  const entries = Object.entries(value).flatMap(([key, part]): readonly (readonly [string, unknown])[] => {
    // The field that it was about stood in the sentence alone.
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

/** `CODE FIELD: sentence`; what a sender calls a field may hold a colon of its own. */
function readWarning(text: unknown, found: Evaluation['warnings']): unknown {
  if (typeof text !== 'string') return text;
  const same = found.find(({ code, subject }) =>
    text.startsWith(subject?.field === undefined ? `${code}: ` : `${code} ${subject.field}: `),
  );
  const [, code, field] = /^(\w+)(?: (.*?))?: /.exec(text) ?? [];
  if (same === undefined && code === undefined) return text;
  return defined({ code: same?.code ?? code, field: same === undefined ? field : same.subject?.field });
}

/** `MODULE: CODE: sentence`, or `MODULE: sentence` of a result that makes no action. */
function readFailure(text: unknown, now: unknown): unknown {
  const [, module, rest = ''] = typeof text === 'string' ? (/^(.*?): ([^]*)$/.exec(text) ?? []) : [];
  if (module === undefined) return text;
  const [, code, error] = /^([a-z]+(?:-[a-z]+)*): ([^]*)$/.exec(rest) ?? [];
  if (code !== undefined) return { module, code, ...(code === 'user-error' ? { error } : {}) };
  // Its key was said in the sentence alone.
  const isSame = isRecord(now) && now['module'] === module && now['code'] === WRONG_RESULT;
  return isSame ? now : { module, code: WRONG_RESULT };
}

const PROMPT =
  /^(?:([^]*?)\n\n)?The text between the two markers with the id (\w+) [^]*?\n<<<EXTERNAL_CONTENT id="\2">>>\nSource: webhook(?: \(([^\n]*)\))?\nHook: [^\n]*\n---\n([^]*)\n<<<END_EXTERNAL_CONTENT id="\2">>>$/;

/** A prompt as the instructions and the message that it was made of. */
function readAction(value: unknown, run: AgentAction | undefined, instructions = ''): unknown {
  if (!isRecord(value) || typeof value['prompt'] !== 'string') return value;
  const { prompt, ...others } = value;
  const own = defined({ instructions: instructions.trim() || undefined });
  // A trusted prompt has nothing in it that says where the message begins.
  if (run?.origin.trusted === true && run.prompt === prompt)
    return { ...others, ...own, message: run.message };
  const [, before, , source, text] = PROMPT.exec(prompt) ?? [];
  if (text === undefined) return value;
  // What was written is what is left of the message behind the boundary.
  const message =
    run !== undefined && new NeutralisedTexts().neutralise(run.message) === text ? run.message : text;
  return { ...others, ...defined({ instructions: before, boundary: 'v1', source, message }) };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function listIn(value: Expectation, key: string): readonly unknown[] {
  const list = value[key];
  return Array.isArray(list) ? list : [];
}
