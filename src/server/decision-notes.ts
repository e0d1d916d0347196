import type { Evaluation } from '../hook/hook.ts';
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
export function judgedNote(
  headers: SentHeaders,
  { error, judged = {} }: Ending,
  { advice, advisor }: DecisionAdvice,
): string | undefined {
  const { evaluation, result } = judged;
  const isRepeat = result !== undefined && result.accepted.length > 0 && result.duplicate;
  const repeat = isRepeat ? repeatOf(judged, headers) : undefined;
  const idle = error === undefined ? undefined : idleTransform(evaluation);
  const notes = [
    repeat === undefined
      ? debounceNote(judged)
      : `a repeat, by ${BY[repeat.by](repeat)}: nothing new was made`,
    repeat && advisor?.onRepeat(repeat),
    idle && `transform ${idle}: ${advisor?.returnedNothing ?? 'it returned nothing'}`,
    ...(advice?.notes ?? []),
    advice?.sender,
  ].filter((note) => note !== undefined);
  return notes.length === 0 ? undefined : notes.join('; ');
}

/** That the run of an accepted request does not begin at once, and whose run it is. */
function debounceNote({ evaluation, result }: Judged): string | undefined {
  const actions = evaluation?.outcome.kind === 'accepted' ? evaluation.outcome.actions : [];
  const at = actions.findIndex((action) => action.kind === 'agent' && action.debounce !== undefined);
  const action = actions[at];
  const stored = result?.accepted[at];
  if (action?.kind !== 'agent' || action.debounce === undefined || stored === undefined) return undefined;
  const keys = new Set(actions.flatMap((each) => (each.kind === 'agent' ? (each.debounce?.key ?? []) : [])));
  const joined =
    keys.size > 1
      ? `each of ${keys.size} runs`
      : stored.id === action.id
        ? 'the run'
        : `joined the run ${stored.id}, which`;
  return `debounce: ${joined} begins when no event of its key came for ${action.debounce.seconds} s`;
}

/** Headers in which senders carry a key of their own choice. */
const KEY_HEADERS = ['idempotency-key', 'x-openclaw-idempotency-key'];

/** By what a repeat was recognised: before it was evaluated, by what the sender sends with it. */
function repeatOf({ evaluation, request, signedId }: Judged, headers: SentHeaders): RepeatFacts {
  const dedupe = evaluation?.mapping?.dedupe;
  const names = Object.keys(headers);
  const common = { headers, payload: request?.payload, ttlSeconds: dedupe?.ttlSeconds };
  // The id that the scheme of the sender signs is known by its value.
  if (signedId !== undefined)
    return {
      ...common,
      by: 'signed',
      header: names.find((name) => headers[name] === signedId),
    };
  const actions = evaluation?.outcome.kind === 'accepted' ? evaluation.outcome.actions : [];
  const key = actions.map((action) => ('dedupe' in action ? action.dedupe?.key : undefined)).find(Boolean);
  if (key !== undefined && dedupe?.key === 'body') return { ...common, by: 'body', header: undefined };
  if (key !== undefined) return { ...common, by: 'key', header: names.find((name) => headers[name] === key) };
  return { ...common, by: 'sender', header: KEY_HEADERS.find((name) => headers[name] !== undefined) };
}

const BY: Readonly<Record<RepeatFacts['by'], (repeat: RepeatFacts) => string>> = {
  signed: ({ header }) =>
    header === undefined ? 'the id that its sender signs' : `the header ${header}, which its sender signs`,
  body: () => 'dedupe: body of its mapping',
  key: () => 'dedupe.key of its mapping',
  sender: ({ header }) => (header === undefined ? 'the key that its sender sends' : `the header ${header}`),
};

/** The module of a transform that returned nothing. */
const idleTransform = (evaluation: Evaluation | undefined): string | undefined =>
  evaluation?.trace.transforms.find(({ reply }) => reply.kind === 'ok' && reply.json === undefined)?.call.ref
    .module;
