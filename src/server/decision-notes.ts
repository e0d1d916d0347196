import { RETURNED_NOTHING, type Evaluation } from '../hook/hook.ts';
import type { RequestAdvice } from './deps.ts';
import type { Ending } from './ending.ts';
import type { RequestFacts } from './exchange.ts';

type SentHeaders = RequestFacts['headers']['values'];

/** What is odd about what mappings made of it. */
export function judgedNote(
  headers: SentHeaders,
  { error, judged = {} }: Ending,
  advice: RequestAdvice | undefined,
): string | undefined {
  const { evaluation, result } = judged;
  const isRepeat = result !== undefined && result.accepted.length > 0 && result.duplicate;
  const notes = [
    isRepeat ? repeatNote(evaluation, headers) : undefined,
    error === undefined ? undefined : idleTransform(evaluation),
    ...(advice?.notes ?? []),
    advice?.sender,
  ].filter((note) => note !== undefined);
  return notes.length === 0 ? undefined : notes.join('; ');
}

/** Headers in which senders name the event or its delivery: new for each event. */
const EVENT_HEADERS = [
  'x-github-delivery',
  'x-gitlab-event-uuid',
  'x-atlassian-webhook-identifier',
  'linear-delivery',
  'x-shopify-event-id',
  'x-webhook-id',
  'webhook-id',
  'x-request-id',
  'request-id',
];

/** By what a repeat was recognised: before it was evaluated, by what the sender sends with it. */
function repeatNote(evaluation: Evaluation | undefined, headers: SentHeaders): string {
  const isByMapping =
    evaluation?.outcome.kind === 'accepted' &&
    evaluation.outcome.actions.some((action) => 'dedupe' in action && action.dedupe !== undefined);
  if (!isByMapping) return repeatOfSender(headers);
  const header = EVENT_HEADERS.find((name) => headers[name] !== undefined);
  const other = header === undefined ? '' : `, such as {{headers.${header}}}`;
  return `a repeat, by dedupe.key of its mapping: nothing new was made; if it was a new event, choose a key that is new for each event${other}`;
}

/** By the key that the sender chose, or by the id that its scheme signs. */
function repeatOfSender(headers: SentHeaders): string {
  const name = ['idempotency-key', 'x-openclaw-idempotency-key'].find((each) => headers[each] !== undefined);
  return name === undefined
    ? 'a repeat, by the key or the id that its sender sends: nothing new was made'
    : `a repeat, by the header ${name}: nothing new was made; if it was a new event, let the sender send another ${name} for each event, and the same one only where it tries again (in a shell: NAME-$(date +%s))`;
}

function idleTransform(evaluation: Evaluation | undefined): string | undefined {
  const idle = evaluation?.trace.transforms.find(
    ({ reply }) => reply.kind === 'ok' && reply.json === undefined,
  );
  return idle && `transform ${idle.call.ref.module}: ${RETURNED_NOTHING}`;
}
