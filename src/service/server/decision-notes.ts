import type { StoredFinding } from '../../base/finding.ts';
import { defined } from '../../base/json.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';
import type { RepeatFacts, RequestAdvice, RequestAdvisor } from './advisor.ts';
import type { Ending, Judged } from './ending.ts';
import type { RequestFacts } from './exchange.ts';

type SentHeaders = RequestFacts['headers']['values'];

/** What is known beside the ending; `advice` is of the evaluation. */
export interface DecisionAdvice {
  readonly advice?: RequestAdvice | undefined;
  readonly advisor?: RequestAdvisor | undefined;
}

/** What is odd about what mappings made of it. */
export function judgedFindings(
  headers: SentHeaders,
  { error, judged = {} }: Ending,
  { advice, advisor }: DecisionAdvice,
): readonly StoredFinding[] {
  const { evaluation, result } = judged;
  const isRepeat = result !== undefined && result.accepted.length > 0 && result.duplicate;
  const idle = error === undefined ? undefined : idleTransform(evaluation);
  return [
    ...(isRepeat ? repeatOf(judged, headers, advisor) : [debounceOf(judged)]),
    furtherOf(evaluation),
    idle === undefined ? undefined : { code: 'returned_nothing', facts: { module: idle } },
    ...(advice?.findings ?? []),
  ].filter((found) => found !== undefined);
}

/** Which other mappings took it. */
function furtherOf({ further }: Partial<Evaluation> = {}): StoredFinding | undefined {
  return further && { code: 'further', facts: { mappings: further.map(({ id }) => id).join(', ') } };
}

/** That the run of an accepted request does not begin at once, and whose run it is. */
function debounceOf({ evaluation, result }: Judged): StoredFinding | undefined {
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

/** Headers in which senders carry a key of their own choice. */
const KEY_HEADERS = ['idempotency-key', 'x-openclaw-idempotency-key'];

/** By what a repeat was recognised: before it was evaluated, by what the sender sends with it. */
function repeatOf(
  judged: Judged,
  headers: SentHeaders,
  advisor: RequestAdvisor | undefined,
): readonly StoredFinding[] {
  const { by, header } = recognised(judged, headers);
  const { evaluation, request } = judged;
  const ttlSeconds = evaluation?.mapping?.dedupe?.ttlSeconds;
  const facts = { by, header, headers, payload: request?.payload, ttlSeconds };
  const repeat = { code: 'repeat', facts: defined({ by, header }) };
  const news = advisor?.onRepeat(facts);
  return news === undefined ? [repeat] : [repeat, news];
}

function recognised(
  { evaluation, signedId }: Judged,
  headers: SentHeaders,
): Pick<RepeatFacts, 'by' | 'header'> {
  const names = Object.keys(headers);
  // The id that the scheme of the sender signs is known by its value.
  if (signedId !== undefined)
    return { by: 'signed', header: names.find((name) => headers[name] === signedId) };
  const actions = evaluation?.outcome.kind === 'accepted' ? evaluation.outcome.actions : [];
  const key = actions.map((action) => ('dedupe' in action ? action.dedupe?.key : undefined)).find(Boolean);
  if (key !== undefined && evaluation?.mapping?.dedupe?.key === 'body')
    return { by: 'body', header: undefined };
  if (key !== undefined) return { by: 'key', header: names.find((name) => headers[name] === key) };
  return { by: 'sender', header: KEY_HEADERS.find((name) => headers[name] !== undefined) };
}

/** The module of a transform that returned nothing. */
const idleTransform = (evaluation: Evaluation | undefined): string | undefined =>
  evaluation?.trace.transforms.find(({ reply }) => reply.kind === 'ok' && reply.json === undefined)?.call.ref
    .module;
