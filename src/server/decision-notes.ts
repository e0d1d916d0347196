import { hasEventId, longWaitText, RETURNED_NOTHING, spanOf, type Evaluation } from '../hook/hook.ts';
import type { RequestAdvice } from './deps.ts';
import type { Ending, Judged } from './ending.ts';
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
    isRepeat ? repeatNote(judged, headers) : debounceNote(judged),
    error === undefined ? undefined : idleTransform(evaluation),
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
  const other = evaluation?.mapping && longWaitText(evaluation.mapping);
  return `debounce: ${joined} begins when no event of its key came for ${spanOf(action.debounce.seconds)}${other === undefined ? '' : `. If not meant: ${other}`}`;
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
function repeatNote({ evaluation, request, signedId }: Judged, headers: SentHeaders): string {
  if (signedId !== undefined) return repeatOfSigned(signedId, headers);
  const isByMapping =
    evaluation?.outcome.kind === 'accepted' &&
    evaluation.outcome.actions.some((action) => 'dedupe' in action && action.dedupe !== undefined);
  if (!isByMapping) return repeatOfSender(headers);
  const { dedupe } = evaluation.mapping ?? {};
  if (dedupe?.key === 'body') return `${REPEAT_OF_BODY}; if it was a new event, ${withoutBodyKey(dedupe)}`;
  const header = EVENT_HEADERS.find((name) => headers[name] !== undefined);
  // An id in the body names the event, and a header may name the delivery alone; the key is for explain to write.
  const isInBody = request !== undefined && hasEventId(request.payload);
  const other = isInBody
    ? ', such as an id of the body: "sluice explain" of this request writes it'
    : header === undefined
      ? ''
      : `, such as {{headers.${header}}}`;
  return `a repeat, by dedupe.key of its mapping: nothing new was made; if it was a new event, choose a key that is new for each event${other}`;
}

const REPEAT_OF_BODY = 'a repeat, by dedupe: body of its mapping: nothing new was made';

/** Two bodies that are the same have no field that would tell the events apart. */
const withoutBodyKey = ({ ttlSeconds }: { readonly ttlSeconds: number }): string =>
  `remove dedupe: body, as its sender sends the same text for each event, which is taken for a repeat for ${ttlSeconds} s; or let the sender write an id or a time of the event into the body, then each is new`;

/** By the id that the scheme of the sender signs; its header is known by its value. */
function repeatOfSigned(id: string, headers: SentHeaders): string {
  const name = Object.keys(headers).find((each) => headers[each] === id);
  const by =
    name === undefined ? 'the id that its sender signs' : `the header ${name}, which its sender signs`;
  return `a repeat, by ${by}: nothing new was made; the sender tried one event again, or a request that was recorded was sent again: "sluice send FILE --sign" signs it under a new id`;
}

/** By the key that the sender chose. */
function repeatOfSender(headers: SentHeaders): string {
  const name = ['idempotency-key', 'x-openclaw-idempotency-key'].find((each) => headers[each] !== undefined);
  return name === undefined
    ? 'a repeat, by the key that its sender sends: nothing new was made'
    : `a repeat, by the header ${name}: nothing new was made; if it was a new event, let the sender send another ${name} for each event, and the same one only where it tries again (in a shell: NAME-$(date +%s))`;
}

function idleTransform(evaluation: Evaluation | undefined): string | undefined {
  const idle = evaluation?.trace.transforms.find(
    ({ reply }) => reply.kind === 'ok' && reply.json === undefined,
  );
  return idle && `transform ${idle.call.ref.module}: ${RETURNED_NOTHING}`;
}
