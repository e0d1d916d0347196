import { skipText, type Evaluation, type TransformTrace } from '../hook/hook.ts';
import type { DecisionRecord, MissedMapping } from '../storage/storage.ts';
import type { RequestAdvice, RequestAdvisor } from './advisor.ts';
import { type DecisionAdvice, judgedNote } from './decision-notes.ts';
import type { Ending } from './ending.ts';
import { type Asked, nameOutside, ownName } from './own-name.ts';
import type { Refusal } from './prove.ts';
import { bodyLimit } from './take-hook.ts';

const MAX_MISSED = 50;
const MAX_NAME_CHARS = 200;
const MAX_EMPTY = 50;
const MAX_NOTES = 50;
const MAX_DETAIL_CHARS = 400;

/** What is kept of a request for `sluice requests`: ids, codes and places, no value of the payload. */
export function decisionOf(
  exchange: Asked,
  ending: Ending,
  { advice, advisor }: DecisionAdvice = {},
): DecisionRecord {
  const { error, proof, judged = {} } = ending;
  const { evaluation, result } = judged;
  const { status } = ending.answer;
  const skipped = evaluation?.outcome.kind === 'skipped' ? evaluation.outcome : undefined;
  const warnings = evaluation?.warnings.map(({ code }) => code) ?? [];
  const note = noteOf(exchange, ending, advisor);
  return {
    requestId: exchange.ids.id,
    receivedAt: exchange.receivedAt,
    path: (ending.hookName ?? ownName(exchange) ?? '').slice(0, MAX_NAME_CHARS),
    method: exchange.req?.method === 'POST' ? undefined : exchange.req?.method,
    keepRequests: keepsNone(exchange, ending) ? 'none' : undefined,
    status,
    outcome: status >= 400 ? 'rejected' : status === 204 ? 'skipped' : 'accepted',
    code: error?.code,
    detail: error && detailBeside(error.detail, note)?.slice(0, MAX_DETAIL_CHARS),
    skippedBy: skipped?.by,
    note:
      skipped === undefined
        ? (judgedNote(exchange.headers.values, ending, { advice, advisor }) ?? note)
        : [`skipped by ${skipText(skipped)}`, ...(advice?.notes ?? [])].join('; '),
    mappingId: evaluation?.mapping?.id,
    actionIds: result === undefined ? [] : result.accepted.map((action) => action.id),
    missed: evaluation && missedBy(evaluation, { advice, advisor }),
    empty: evaluation && emptyOf(evaluation, advice),
    warnings: warnings.length === 0 ? undefined : warnings,
    generation: exchange.generation.id,
    tookMs: performance.now() - exchange.startedAt,
    bodyBytes: exchange.bodyBytes,
    bodyUnread: exchange.hasBody === true && exchange.bodyBytes === 0 ? true : undefined,
    transformNotes: evaluation && transformNotes(evaluation.trace.transforms),
    refusal: proof?.kind === 'refused' ? refusalOf(proof) : undefined,
  };
}

function keepsNone({ generation }: Asked, { judged, hookName }: Ending): boolean {
  if (judged?.request === undefined || hookName === undefined) return false;
  return generation.settingsOf(hookName).keepRequests === 'none';
}

/** Why a request was refused before mappings saw it, with no value of it. */
export function refusedWhy(
  exchange: Asked,
  ending: Ending,
  advisor: RequestAdvisor | undefined,
): string | undefined {
  const { error, proof, judged = {} } = ending;
  if (error === undefined || proof?.kind === 'refused' || judged.evaluation !== undefined) return undefined;
  const note = noteOf(exchange, ending, advisor);
  const detail = detailBeside(error.detail, note)?.slice(0, MAX_DETAIL_CHARS);
  return [detail, note].filter((text) => text !== undefined).join('; ');
}

/** What the sender is told, without what the note for the operator says in more words. */
function detailBeside(detail: string, note: string | undefined): string | undefined {
  if (note?.startsWith('rate of ') === true) return undefined;
  return note?.includes('bodyFormat: ') === true ? detail.replace(/; send (?:a |JSON|XML).*$/s, '') : detail;
}

/** What only the operator is told: which key set the limit, where hooks are, and what to change. */
function noteOf(
  exchange: Asked,
  { error, hookName }: Ending,
  advisor: RequestAdvisor | undefined,
): string | undefined {
  if (error === undefined) return undefined;
  const { generation, req, headers } = exchange;
  const { code, detail, field, facts } = error;
  const place = hookName === undefined ? undefined : generation.placeOf?.(hookName);
  if (code === 'body_too_large') return limitNote(exchange, hookName ?? ownName(exchange) ?? '');
  if (code === 'rate_limited') return rateNote(exchange, hookName ?? '', place);
  if (code === 'not_found') return addressNote(exchange);
  if (hookName === undefined || (code === 'no_mapping_matched' && generation.canTake(hookName)))
    return undefined;
  return advisor?.onRefusal({
    code,
    detail,
    field,
    name: hookName,
    place,
    method: req?.method ?? '',
    url: req?.url,
    headers: headers.values,
    facts,
  });
}

function rateNote({ generation }: Asked, name: string, place = `the mappings of ${name}`): string {
  const { perMinute = 'only some' } = generation.settingsOf(name).rate ?? {};
  return `rate of ${place} takes ${perMinute} a minute and refuses the others: to take all of them write limits: {runsPerHour: N} in its place, N being how many runs may begin in an hour; the others wait in the queue`;
}

/** Which key sets the limit of a body, and what would be enough for this one. */
function limitNote({ generation, req }: Asked, name: string): string {
  const { setBy } = bodyLimit(generation, name);
  const bytes = Number(req?.headers['content-length']);
  const enough = bytes > 0 && bytes <= MAX_BODY_BYTES ? 2 ** Math.ceil(Math.log2(bytes)) : undefined;
  const write =
    enough === undefined ? '' : `; this body has ${bytes} bytes: write maxBodyBytes: ${enough} there`;
  return `the limit is set by ${setBy}${write}`;
}

/** What `maxBodyBytes` may be at most. */
const MAX_BODY_BYTES = 67_108_864;

/** Where hooks are, for a path at which nothing is. */
function addressNote(exchange: Asked): string {
  const { generation } = exchange;
  const { enabled, path } = generation.hooks;
  if (!enabled) return generation.takesNone ?? 'hooks.enabled is not true: write enabled: true below hooks';
  const name = nameOutside(exchange);
  const meant = name && (generation.placeOf?.(name) ?? name);
  return meant === undefined
    ? `hooks are below ${path} (hooks.path): senders post to ${path}/NAME`
    : `hooks are below ${path} (hooks.path): for ${meant} the sender posts to ${path}/${name ?? ''}`;
}

/** Only the verdict is kept: strangers' requests are not. */
function refusalOf({ scheme = 'token', diagnosis }: Refusal): DecisionRecord['refusal'] {
  return diagnosis && { scheme, code: diagnosis.code, text: diagnosis.text };
}

/** Module, kind of failure and position of a transform that failed: what the service log may say of it. */
export function failedTransformOf({ error, judged }: Ending): object | undefined {
  const evaluation = judged?.evaluation;
  if (error === undefined || error.status < 500 || evaluation?.outcome.kind !== 'rejected') return undefined;
  for (const { call, reply, problem } of evaluation.trace.transforms) {
    if (problem !== undefined) return { module: call.ref.module, failure: 'wrong-result' };
    if (reply.kind !== 'failed') continue;
    const { position } = reply;
    const at = position === undefined ? {} : { at: `${position.file}:${position.line}:${position.column}` };
    return { module: call.ref.module, failure: reply.failure, ...at };
  }
  return undefined;
}

function missedBy(evaluation: Evaluation, advice: DecisionAdvice): readonly MissedMapping[] | undefined {
  if (evaluation.mapping !== undefined || evaluation.trace.considered.length === 0) return undefined;
  const missed: MissedMapping[] = [];
  // Mappings of other paths say something only where none has this path; else they would crowd out the near ones.
  const { considered } = evaluation.trace;
  const near = considered.filter(({ failed }) => failed?.part !== 'path');
  for (const { mapping, failed } of near.length === 0 ? considered : near) {
    if (failed === undefined) continue;
    if (missed.length === MAX_MISSED) break;
    missed.push(missOf(mapping, failed, advice));
  }
  return missed;
}

type Considered = Evaluation['trace']['considered'][number];
type FailedPart = NonNullable<Considered['failed']>;

function missOf(
  mapping: Considered['mapping'],
  failed: FailedPart,
  { advice, advisor }: DecisionAdvice,
): MissedMapping {
  const at = failed.part === 'when' ? failed.node.at : (failed.at ?? mapping.at);
  const reason = reasonOf(failed, advisor);
  // Of a request of another kind no field stands for another.
  const isOther = advice === undefined || advice.notes.length > 0 || reason.variable === undefined;
  const instead = isOther ? undefined : advice.instead.get(reason.variable);
  return {
    mappingId: mapping.id,
    part: failed.part,
    place: placeText(at),
    ...reason,
    ...(instead === undefined ? {} : { instead }),
  };
}

/** The failing part in the operator's own words; what was found stays out. */
function reasonOf(
  failed: FailedPart,
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
  return { leaf: expression, why: 'different', ...(how === undefined ? {} : { how }) };
}

/** What rendered empty, as the mapping writes it. */
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
        place: placeText(at),
        ...(instead === undefined ? {} : { instead }),
      });
    }
  }
  return empty.size === 0 ? undefined : [...empty.values()];
}

/** `file:line:column`, 1-based; linear in the position, and only for what missed or rendered empty. */
function placeText(at: Evaluation['trace']['templates'][number]['at']): string {
  const { file, text } = at.source;
  let line = 1;
  let lineStart = 0;
  for (let end = text.indexOf('\n'); end >= 0 && end < at.start; end = text.indexOf('\n', lineStart)) {
    line += 1;
    lineStart = end + 1;
  }
  return `${file}:${line}:${at.start - lineStart + 1}`;
}

/** What transforms did, by kind and place: their console and errors may hold anything of the payload. */
function transformNotes(transforms: readonly TransformTrace[]): readonly string[] | undefined {
  const notes: string[] = [];
  for (const { call, reply, index, problem, mappingKey } of transforms) {
    if (notes.length >= MAX_NOTES) break;
    const who = index === undefined ? call.ref.module : `${call.ref.module}[${index}]`;
    const lines = reply.logs.length + reply.logsDropped;
    if (lines > 0) notes.push(`${who} wrote ${lines} line${lines === 1 ? '' : 's'} to the console`);
    if (problem !== undefined)
      notes.push(
        `${who} wrong-result${mappingKey === undefined ? '' : `: "${mappingKey}" is a key of the mapping, to be written there, beside transform`}`,
      );
    if (reply.kind === 'failed') notes.push(`${who} ${reply.failure}${positionText(reply.position)}`);
  }
  return notes.length === 0 ? undefined : notes;
}

type Failed = Extract<TransformTrace['reply'], { kind: 'failed' }>;

function positionText(position: Failed['position']): string {
  return position === undefined ? '' : ` at ${position.file}:${position.line}:${position.column}`;
}
