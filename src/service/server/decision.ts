import { joinSentences, quoted, type Sentence, type StoredFinding } from '../../base/finding.ts';
import { formatPlace } from '../../base/document/document.ts';
import { defined } from '../../base/json.ts';
import type { Evaluation, TransformTrace } from '../../engine/hook/hook.ts';
import type { DecisionRecord, MissedMapping } from '../../engine/storage/storage.ts';
import type { RepeatFacts, RequestAdvice, RequestAdvisor } from './advisor.ts';
import { type AnyExchange, type Ending, type HookJudgement, nameOutside, ownName } from './exchange.ts';
import { bodyLimit } from './take-hook.ts';

const MAX_MISSED = 50;
const MAX_NAME_CHARS = 200;
const MAX_EMPTY = 50;
const MAX_FINDINGS = 50;
const MAX_DETAIL_CHARS = 400;

/** The decision on a request for `sluice requests`: ids, codes and places, no value of the payload. */
export function decisionOf(
  exchange: AnyExchange,
  ending: Ending,
  { advice, advisor }: DecisionAdvice = {},
): DecisionRecord {
  const { error, proof, judged = {} } = ending;
  const { evaluation, result } = judged;
  const { status } = ending.answer;
  const skipped = evaluation?.outcome.kind === 'skipped' ? evaluation.outcome : undefined;
  const warnings = evaluation?.warnings.map(({ code }) => code) ?? [];
  return {
    requestId: exchange.ids.id,
    receivedAt: exchange.receivedAt,
    path: (ending.hookName ?? ownName(exchange) ?? '').slice(0, MAX_NAME_CHARS),
    method: exchange.req?.method === 'POST' ? undefined : exchange.req?.method,
    keepRequests:
      ending.hookName === undefined
        ? undefined
        : exchange.generation.settingsOf(ending.hookName).keepRequests,
    status,
    outcome: status >= 400 ? 'rejected' : status === 204 ? 'skipped' : 'accepted',
    code: error?.code,
    skippedBy: skipped?.by,
    findings: findingsOf(exchange, ending, { advice, advisor }),
    mappingId: evaluation?.mapping?.id,
    actionIds: result?.accepted.flatMap(({ id, without }) => (without === 'none' ? [] : [id])) ?? [],
    missed: evaluation && missedBy(evaluation, { advice, advisor }),
    empty: evaluation && emptyOf(evaluation, advice),
    warnings: warnings.length === 0 ? undefined : warnings,
    generation: exchange.generation.id,
    tookMs: performance.now() - exchange.startedAt,
    bodyBytes: exchange.bodyBytes,
    bodyUnread: exchange.hasBody === true && exchange.bodyBytes === 0 ? true : undefined,
    recovered: exchange.recovered?.mark,
    // Only the verdict is kept, as requests of strangers are not.
    refusal:
      proof?.kind === 'refused'
        ? proof.finding && { scheme: proof.scheme ?? 'token', ...proof.finding }
        : undefined,
  };
}

/** The findings on a request; none where it became what it was sent for. */
function findingsOf(
  exchange: AnyExchange,
  ending: Ending,
  known: DecisionAdvice,
): readonly StoredFinding[] | undefined {
  const { evaluation } = ending.judged ?? {};
  const judged = judgedFindings(exchange.headers.values, ending, known);
  // Which key of a mapping, or field of a body of ours, an error is about.
  const field = evaluation && ending.error?.errors[0]?.subject?.field;
  const refused =
    judged.length > 0
      ? undefined
      : (refusalFinding(exchange, ending, known.advisor) ?? (field && { code: 'field', facts: { field } }));
  const transforms = evaluation === undefined ? [] : transformFindings(evaluation.trace.transforms);
  const all = [...judged, ...(refused ? [refused] : []), ...transforms];
  return all.length === 0 ? undefined : all;
}

type SentHeaders = AnyExchange['headers']['values'];

/** What is known beside the ending; `advice` is about the evaluation. */
interface DecisionAdvice {
  readonly advice?: RequestAdvice | undefined;
  readonly advisor?: RequestAdvisor | undefined;
}

function judgedFindings(
  headers: SentHeaders,
  { error, judged = {} }: Ending,
  { advice, advisor }: DecisionAdvice,
): readonly StoredFinding[] {
  const { evaluation, result } = judged;
  if (evaluation?.outcome.kind === 'skipped') {
    const { kind: _, ...facts } = evaluation.outcome;
    return [{ code: 'skipped', facts: defined(facts) }, ...(advice?.findings ?? [])];
  }
  const isRepeat = result !== undefined && result.accepted.length > 0 && result.duplicate;
  const { further, trace } = evaluation ?? {};
  const idle =
    error && trace?.transforms.find(({ reply }) => reply.kind === 'ok' && reply.json === undefined);
  return [
    ...(isRepeat ? repeatOf(judged, headers, advisor) : [debounceOf(judged), withoutConversation(judged)]),
    further && { code: 'further', facts: { mappings: further.map(({ id }) => id).join(', ') } },
    idle && { code: 'returned_nothing', facts: { module: idle.call.ref.module } },
    ...(advice?.findings ?? []),
  ].filter((found) => found !== undefined);
}

/** Says that the run of an accepted request does not begin at once, and whose run it is. */
function debounceOf({ evaluation, result }: HookJudgement): StoredFinding | undefined {
  const actions = evaluation?.outcome.kind === 'accepted' ? evaluation.outcome.actions : [];
  const at = actions.findIndex((action) => action.kind === 'agent' && action.debounce !== undefined);
  const action = actions[at];
  const stored = result?.accepted[at];
  if (action?.kind !== 'agent' || action.debounce === undefined || stored === undefined) return undefined;
  const runs = new Set(actions.flatMap((each) => (each.kind === 'agent' ? (each.debounce?.key ?? []) : [])))
    .size;
  const joined = stored.id === action.id ? {} : { joined: stored.id };
  return { code: 'debounce', facts: { seconds: action.debounce.seconds, runs, ...joined } };
}

/** Says that the event has no turn; by which keys its conversation was looked for, its run says, or the request itself. */
function withoutConversation({ evaluation, result }: HookJudgement): StoredFinding | undefined {
  const index = result?.accepted.findIndex((action) => action.without !== undefined) ?? -1;
  const without = result?.accepted[index]?.without;
  if (without === undefined) return undefined;
  const action = evaluation?.outcome.kind === 'accepted' ? evaluation.outcome.actions[index] : undefined;
  const isOwn = action?.kind === 'agent' && action.conversation?.isOwn === true;
  return { code: 'no_conversation', facts: { without: without === 'none' && isOwn ? 'mark' : without } };
}

/** Headers in which senders carry a key of their own choice. */
const KEY_HEADERS = ['idempotency-key', 'x-openclaw-idempotency-key'];

/** How a repeat was recognised: before its evaluation by a header or an id of its event. */
function repeatOf(
  judged: HookJudgement,
  headers: SentHeaders,
  advisor: RequestAdvisor | undefined,
): readonly StoredFinding[] {
  const { by, header } = recognised(judged, headers);
  const ttlSeconds = judged.evaluation?.mapping?.dedupe?.ttlSeconds;
  const facts = { by, header, headers, ttlSeconds };
  const repeat = { code: 'repeat', facts: defined({ by, header }) };
  const news = advisor?.onRepeat(facts);
  return news === undefined ? [repeat] : [repeat, news];
}

function recognised(
  { evaluation, event }: HookJudgement,
  headers: SentHeaders,
): Pick<RepeatFacts, 'by' | 'header'> {
  const names = Object.keys(headers);
  if (event) return { by: event.by, header: names.find((name) => headers[name] === event.id) };
  const actions = evaluation?.outcome.kind === 'accepted' ? evaluation.outcome.actions : [];
  const key = actions.map((action) => ('dedupe' in action ? action.dedupe?.key : undefined)).find(Boolean);
  if (key !== undefined && evaluation?.mapping?.dedupe?.key === 'body')
    return { by: 'body', header: undefined };
  if (key !== undefined) return { by: 'key', header: names.find((name) => headers[name] === key) };
  return { by: 'sender', header: KEY_HEADERS.find((name) => headers[name] !== undefined) };
}

/** Why a request was refused before mappings saw it, for the log, with no value of it. */
export function refusedWhy(
  exchange: AnyExchange,
  ending: Ending,
  advisor: RequestAdvisor | undefined,
): Sentence | undefined {
  const { error, proof, judged = {}, hookName } = ending;
  if (error === undefined || proof?.kind === 'refused' || judged.evaluation !== undefined) return undefined;
  const found = refusalFinding(exchange, ending, advisor);
  const said = found && advisor?.say([found], hookName ?? ownName(exchange) ?? '');
  // What is said of the limit, or of the place in the body, has all that the sender reads.
  const isWhole = found !== undefined && SAY_ALL.has(found.code) && said !== undefined;
  return joinSentences(
    [isWhole ? undefined : quoted(error.detail.slice(0, MAX_DETAIL_CHARS)), said].filter(
      (text) => text !== undefined,
    ),
  );
}

const SAY_ALL: ReadonlySet<string> = new Set(['rate', 'not_json']);

/** What only the operator reads: which key set the limit, where hooks are, and what to change. */
function refusalFinding(
  exchange: AnyExchange,
  { error, hookName }: Ending,
  advisor: RequestAdvisor | undefined,
): StoredFinding | undefined {
  if (error === undefined) return undefined;
  const { generation, req, headers } = exchange;
  const { code, field, facts } = error;
  if (code === 'body_too_large') {
    const { setBy } = bodyLimit(generation, hookName ?? ownName(exchange) ?? '');
    const bytes = Number(req?.headers['content-length']);
    return { code: 'body_limit', facts: { setBy, ...(bytes > 0 ? { bytes } : {}) } };
  }
  if (code === 'rate_limited') {
    const { perMinute } = generation.settingsOf(hookName ?? '').rate ?? {};
    return { code: 'rate', facts: { perMinute: perMinute ?? 'only some' } };
  }
  if (code === 'not_found') {
    if (facts !== undefined) return { code: 'too_long', facts: { ...facts } };
    // The finding says where hooks are, for a path at which nothing is.
    const { enabled, path } = generation.hooks;
    if (!enabled) return { code: generation.performsOnly === true ? 'worker' : 'hooks_off' };
    return { code: 'address', facts: defined({ hooks: path, name: nameOutside(exchange) }) };
  }
  if (hookName === undefined || (code === 'no_mapping_matched' && generation.canTake(hookName)))
    return undefined;
  return advisor?.onRefusal({
    code,
    field,
    name: hookName,
    method: req?.method ?? '',
    url: req?.url,
    headers: headers.values,
    facts,
  });
}

/** Module, kind of failure and position of a transform that failed: what the service log may say of it. */
export function failedTransformOf({ error, judged }: Ending): object | undefined {
  const evaluation = judged?.evaluation;
  if (error === undefined || error.status < 500 || evaluation?.outcome.kind !== 'rejected') return undefined;
  for (const { call, reply, problem } of evaluation.trace.transforms) {
    if (problem !== undefined) return { module: call.ref.module, failure: 'wrong-result' };
    if (reply.kind !== 'failed') continue;
    return { module: call.ref.module, failure: reply.failure, ...positionOf(reply.position) };
  }
  return undefined;
}

function missedBy(evaluation: Evaluation, advice: DecisionAdvice): readonly MissedMapping[] | undefined {
  if (evaluation.mapping !== undefined || evaluation.trace.considered.length === 0) return undefined;
  // Mappings of other paths say something only where none has this path; else they would crowd out the near ones.
  const { considered } = evaluation.trace;
  const near = considered.filter(({ failed }) => failed?.part !== 'path');
  return (near.length === 0 ? considered : near)
    .flatMap(({ mapping, failed }) => (failed === undefined ? [] : [{ mapping, failed }]))
    .slice(0, MAX_MISSED)
    .map(({ mapping, failed }) => missOf(mapping, failed, advice));
}

type ConsideredMapping = Evaluation['trace']['considered'][number];
type MatchFailure = NonNullable<ConsideredMapping['failed']>;

function missOf(
  mapping: ConsideredMapping['mapping'],
  failed: MatchFailure,
  { advice, advisor }: DecisionAdvice,
): MissedMapping {
  const at = failed.part === 'when' ? failed.node.at : (failed.at ?? mapping.at);
  const reason = reasonOf(failed, advisor);
  // In a request of another kind no field stands for another.
  const isOther = advice === undefined || advice.findings.length > 0 || reason.variable === undefined;
  const instead = isOther ? undefined : advice.instead.get(reason.variable);
  return {
    mappingId: mapping.id,
    part: failed.part,
    place: formatPlace(at),
    ...reason,
    ...defined({ instead }),
  };
}

/** The failing part as the mapping writes it, without the value that was found. */
function reasonOf(
  failed: MatchFailure,
  advisor: RequestAdvisor | undefined,
): Pick<MissedMapping, 'leaf' | 'why' | 'variable' | 'how'> {
  if (failed.part !== 'when') {
    const isMissing = failed.part === 'source' && failed.found === undefined;
    return { leaf: failed.expected.slice(0, MAX_NAME_CHARS), why: isMissing ? 'missing' : 'different' };
  }
  const { expression, missing, result } = failed.node;
  if (missing !== undefined) return { leaf: expression, why: 'missing', variable: missing };
  if (result === 'unknown') return { leaf: expression, why: 'unknown' };
  const how = advisor?.howDifferent(failed.node);
  return { leaf: expression, why: 'different', ...defined({ how }) };
}

/** The expressions that rendered empty, as the mapping writes them. */
function emptyOf({ trace }: Evaluation, advice: RequestAdvice | undefined): DecisionRecord['empty'] {
  const empty = new Map<string, NonNullable<DecisionRecord['empty']>[number]>();
  for (const template of trace.templates) {
    for (const { expression, at } of template.empty) {
      if (empty.size === MAX_EMPTY) break;
      const { field } = template;
      const key = `${field} ${at.start}`;
      if (empty.has(key)) continue;
      const instead = advice?.instead.get(expression.trim());
      empty.set(key, {
        field,
        expression: expression.slice(0, MAX_NAME_CHARS),
        place: formatPlace(at),
        ...defined({ instead }),
      });
    }
  }
  return empty.size === 0 ? undefined : [...empty.values()];
}

/** What transforms did, by kind and place: their console and errors may hold anything of the payload. */
function transformFindings(transforms: readonly TransformTrace[]): readonly StoredFinding[] {
  return transforms.slice(0, MAX_FINDINGS).flatMap(({ call, reply, index, problem, mappingKey }) => {
    const who = defined({ module: call.ref.module, index });
    const lines = reply.logs.length + reply.logsDropped;
    return [
      ...(lines > 0 ? [{ code: 'transform_printed', facts: { ...who, lines } }] : []),
      ...(problem === undefined
        ? []
        : [{ code: 'transform_result', facts: { ...who, ...defined({ key: mappingKey }) } }]),
      ...(reply.kind === 'failed'
        ? [
            {
              code: 'transform_failed',
              ...positionOf(reply.position),
              facts: { ...who, failure: reply.failure },
            },
          ]
        : []),
    ];
  });
}

type TransformFault = Extract<TransformTrace['reply'], { kind: 'failed' }>;

const positionOf = (position: TransformFault['position']): Pick<StoredFinding, 'at'> =>
  position === undefined ? {} : { at: `${position.file}:${position.line}:${position.column}` };
