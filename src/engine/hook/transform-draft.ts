import { HookError } from '../../base/errors.ts';
import { defined, fieldAt, isJsonObject, parseJson, readJson } from '../../base/json.ts';
import type { Scope } from '../mapping/mapping.ts';
import type { HookRequest, JsonValue } from '../../base/request.ts';
import type { TransformCall, TransformReply } from '../sandbox/sandbox.ts';
import type { EvaluationState } from './evaluation-state.ts';
import type { Draft } from './draft.ts';
import type { EvaluationPart, TransformTrace, HookFacts } from './evaluation.ts';
import { warn } from './action-fields.ts';
import { mergeResult, type MergeResult } from './merge.ts';
import type { Finding } from '../../base/finding.ts';

/** Characters of a call that are handed over in the time of a step. */
const CHARACTERS = 32;

/** Yields the call of a mapping's transform for one scope, and merges the reply over the draft. */
export function* transformDraft(
  state: EvaluationState,
  ref: TransformCall['ref'],
  draft: Draft,
  scope: Scope,
): EvaluationPart<readonly Draft[]> {
  const call = callOf(state, scope, { ref, budgetMs: remainingMs(state) });
  // Written and read once more on its way to the sandbox and back.
  state.work.pass(call.json.length / CHARACTERS);
  const reply = (yield call) as TransformReply;
  if (reply.kind === 'ok') state.work.pass(reply.json?.length ?? 0);
  state.transformMs += reply.tookMs;
  if (reply.kind === 'ok' && reply.json !== undefined) {
    warnOfWords(state.warnings, reply.json, call.json);
    warnOfEpoch(state.warnings, reply.json, call.json);
    warnOfRounded(state.warnings, reply.json, call.json);
  }
  const merged: MergeResult = reply.kind === 'ok' ? mergeReply(state, draft, reply) : {};
  const isIdle = reply.kind === 'ok' && reply.json === undefined;
  if (state.full || isIdle || merged.drafts === undefined || reply.logs.length > 0)
    state.transforms.push(traceOf(call, reply, merged, scope));
  if (merged.drafts !== undefined) return merged.drafts;
  throw transformError(reply);
}

function remainingMs({ settings, transformMs }: EvaluationState): number {
  const budgetMs = settings.transformBudgetMs - transformMs;
  if (budgetMs > 0) return budgetMs;
  const limit = `${settings.transformBudgetMs} ms`;
  throw new HookError('transform_failed', `the transforms of this request used up their ${limit}`);
}

const CLASS_INSTANCE =
  'the transform returned an instance of a class, of which only its own properties count';

function mergeReply(
  { warnings, settings, mapping }: EvaluationState,
  draft: Draft,
  { json, isInstance }: Extract<TransformReply, { readonly kind: 'ok' }>,
): MergeResult {
  if (isInstance === true) warn(warnings, { code: 'class_instance', message: CLASS_INSTANCE, facts: {} });
  const { behaviours = {}, conversation } = mapping ?? {};
  const takesKeys = conversation !== undefined;
  return mergeResult(draft, json, { warnings, lenient: settings.lenient, behaviours, takesKeys });
}

function traceOf(
  call: TransformCall,
  reply: TransformReply,
  { problem, mappingKey }: MergeResult,
  { index }: Scope,
): TransformTrace {
  // The keys of a body are those of the sender.
  const said =
    problem !== undefined && isBody(call, reply)
      ? { problem: 'the transform returned the body itself; expected { message: … }' }
      : { problem, mappingKey };
  return { call, reply, at: call.ref.at, ...defined({ index, ...said }) };
}

function callOf(
  state: EvaluationState,
  scope: Scope,
  { ref, budgetMs }: Pick<TransformCall, 'ref' | 'budgetMs'>,
): TransformCall {
  const { request } = state;
  return {
    ref,
    json: callJson(state, scope),
    now: request.receivedAt,
    // Every element of a batch gets random numbers of its own; the golden ratio keeps the seeds apart.
    seed: (request.seed + (scope.index ?? 0) * 0x9e37_79b9) >>> 0,
    key: randomKey(request, scope.index),
    budgetMs,
  };
}

/** Whether it gives the body itself in place of a result, as transforms of other tools hand it on: the fields it was given. */
function isBody(call: TransformCall, reply: TransformReply): boolean {
  if (reply.kind !== 'ok') return false;
  const [result, body] = [readJson(reply.json ?? ''), fieldAt(parseJson(call.json), ['payload'])];
  const names = isJsonObject(body) ? Object.keys(body) : [];
  return isJsonObject(result) && names.length > 0 && names.every((name) => Object.hasOwn(result, name));
}

/** The error of a transform that failed. Its detail says nothing of the cause: that is in the trace. */
function transformError(reply: TransformReply): HookError {
  if (reply.kind === 'failed' && reply.failure === 'deferred') {
    return new HookError('transform_unavailable', 'the mapping has a transform that cannot run right now', {
      retryAfterSeconds: reply.retryAfterSeconds ?? 1,
    });
  }
  return new HookError('transform_failed', 'the transform of the mapping failed');
}

/** The key of a call's random bytes; every element of a batch gets bytes of its own. */
export function randomKey({ id, nonce }: HookRequest, index?: number): string {
  return `${id}\n${nonce}\n${index ?? ''}`;
}

/** The argument of a transform outside a batch; inside one `item` and `index` come with it. */
export function transformInput(request: HookRequest): Readonly<Record<string, JsonValue>> {
  const { payload, headers, query, path, url, receivedAt } = request;
  return { payload, headers, query, path, url, now: new Date(receivedAt).toISOString() };
}

function callJson(state: EvaluationState, { request, item, index }: Scope): string {
  // An element of an OpenClaw batch has a payload of its own.
  const isOwn = request !== state.request;
  const json = isOwn
    ? JSON.stringify(transformInput(request))
    : (state.callJson ??= JSON.stringify(transformInput(request)));
  return index === undefined ? json : `${json.slice(0, -1)},"item":${JSON.stringify(item)},"index":${index}}`;
}

/*
 * What shows in the result of a transform that was hardly meant: a word that JavaScript writes for what is no text, a time
 * in seconds read as milliseconds. Looked for only where the result has their mark and the body has not.
 */

interface SuspectWord {
  readonly code: keyof HookFacts;
  /** What its pattern never matches without; looked for first, as that is quick. */
  readonly mark: string;
  readonly pattern: RegExp;
}

const WORDS: readonly SuspectWord[] = [
  { code: 'promise_as_text', mark: '[object ', pattern: /\[object Promise\]/ },
  {
    code: 'object_as_text',
    mark: '[object ',
    pattern: /\[object (?:Map|Set|Generator|Iterator|Object|AsyncFunction)\]/,
  },
  { code: 'invalid_date', mark: 'Invalid Date', pattern: /\bInvalid Date\b/ },
  { code: 'nan_as_text', mark: 'NaN', pattern: /(?<![\w-])NaN(?![\w-])/ },
  { code: 'undefined_as_text', mark: 'undefined', pattern: /(?<![\w-])undefined(?![\w-])/ },
];

/** Warns of such words in what a transform returned; `json` is its result, `input` what it was called with. */
function warnOfWords(warnings: Finding[], json: string, input: string): void {
  for (const { code, mark, pattern } of WORDS) {
    const found = json.includes(mark) ? pattern.exec(json)?.[0] : undefined;
    if (found === undefined || input.includes(found)) continue;
    const shown = /Promise|undefined|NaN|Invalid/.test(found) ? found : '[object …]';
    const facts: HookFacts['undefined_as_text'] & HookFacts['object_as_text'] = {
      isElement: /"index":\d+\}$/.test(input),
      isList: input.startsWith('{"payload":['),
      isCollection: /Map|Set|Generator|Iterator/.test(found),
    };
    warn(warnings, { code, message: `the result has the text "${shown}"`, facts });
  }
}

/** Dates of January 1970, in which every number of seconds of our time lies that is read as milliseconds. */
const EPOCH = /\b1970-01-\d\d|\b\d{1,2}[./]\d{1,2}[./]1970\b|\bJan(?:uary)? (?:\d{1,2},? )?1970\b/;
/** A time of 2001 to 2038 in seconds. */
const SECONDS = /[:[,]1\d{9}(?=[,\]}])/;

/** Warns of a date that a transform most likely made of seconds; `json` is its result, `input` what it was called with. */
function warnOfEpoch(warnings: Finding[], json: string, input: string): void {
  if (!json.includes('1970') || !EPOCH.test(json) || input.includes('1970') || !SECONDS.test(input)) return;
  const message =
    'the transform made a date of January 1970 of a number of seconds: JavaScript counts milliseconds';
  warn(warnings, { code: 'seconds_as_milliseconds', message, facts: {} });
}

/** As many digits as only a number has that a double may not hold. */
const LONG = /\d{16,}/g;

/** Warns of a number of the body that JavaScript rounded: two of them may look the same then. */
function warnOfRounded(warnings: Finding[], json: string, input: string): void {
  const isRounded = json.match(LONG)?.some((digits) => !input.includes(digits)) === true;
  if (!isRounded || !/[:[,]-?\d{16,}/.test(input)) return;
  const message =
    'the transform returned a number of the body with its last digits rounded, so two of them may look the same: it has more digits than a JavaScript number keeps';
  warn(warnings, { code: 'rounded_number', message, facts: {} });
}
