import { quoted, say } from '../finding.ts';
import { quote, type Reporter } from './mapping-codes.ts';
import type { MappingSource } from './mapping-schema.ts';

/** Headers that senders make anew each time they send an event, the same one included: times and signatures over them. */
const NEW_ON_EACH_TRY: ReadonlySet<string> = new Set([
  'x-slack-request-timestamp',
  'x-slack-signature',
  'x-slack-retry-num',
  'x-slack-retry-reason',
  'stripe-signature',
  'webhook-timestamp',
  'webhook-signature',
  'svix-timestamp',
  'svix-signature',
  'calendly-webhook-signature',
  'paddle-signature',
  'x-zm-request-timestamp',
  'x-zm-signature',
  'x-twilio-email-event-webhook-timestamp',
  'x-twilio-email-event-webhook-signature',
  'x-signature-timestamp',
  'x-signature-ed25519',
  'date',
  'traceparent',
  'x-amzn-trace-id',
  'cf-ray',
]);

/** The id of an event or delivery, which a repeat has again, by the scheme of the proof. */
const ID_OF: Readonly<Record<string, string>> = {
  slack: '{{event_id}}',
  github: '{{headers.x-github-delivery}}',
  stripe: '{{id}}',
  'standard-webhooks': '{{headers.webhook-id}}',
  svix: '{{headers.svix-id}}',
};

interface Checked {
  readonly source: MappingSource;
  readonly reporter: Reporter;
}

/** A dedupe key with a part that a repeat does not have again: no repeat is ever found. */
export function checkDedupeKey({ source, reporter }: Checked): void {
  const { dedupe } = source;
  const key = typeof dedupe === 'object' && typeof dedupe.key === 'string' ? dedupe.key : '';
  const [part, read] = [...key.matchAll(EXPRESSION)].find(isVolatile) ?? [];
  if (part === undefined || read === undefined) return;
  const better = betterKey(key, source);
  reporter.report(['dedupe', 'key'], {
    severity: 'warning',
    code: 'DEDUPE_KEY_VOLATILE',
    message: say`${quote(read)} is new each time ${read === 'now' ? 'a request comes' : 'the sender tries'}, so this key never finds a repeat`,
    hint: quoted(
      better === undefined
        ? 'write the id that the sender gives the event, which is the same on each try'
        : `write key: '${better}'`,
    ),
    ...(better === undefined ? {} : { replace: { from: key, to: better } }),
  });
}

/** Headers with the id of one delivery: no two events have the same. */
const ID_OF_ONE: ReadonlySet<string> = new Set([
  'x-github-delivery',
  'x-gitlab-event-uuid',
  'x-gitea-delivery',
  'x-request-uuid',
  'x-request-id',
  'x-shopify-event-id',
  'x-shopify-webhook-id',
  'linear-delivery',
  'webhook-id',
  'svix-id',
  'x-amzn-trace-id',
]);

/** A debounce key that is new for each event: no two of them are ever gathered. */
export function checkDebounceKey({ source, reporter }: Checked): void {
  const key = source.debounce?.key ?? '';
  const own = [...key.matchAll(/\{\{\s*(headers\.\[?([\w-]+)\]?|now)\s*\}\}/g)].find(
    ([, read, header = '']) => read === 'now' || ID_OF_ONE.has(header.toLowerCase()),
  );
  if (own?.[1] === undefined) return;
  reporter.report(['debounce', 'key'], {
    severity: 'warning',
    code: 'DEBOUNCE_KEY_UNIQUE',
    message: say`${quote(own[1])} is new for each event, so this key gathers none: each becomes a run of its own`,
    hint: say`use what the events that belong together share, such as the id of the issue, the monitor or the repository; an id of the event belongs into dedupe.key`,
  });
}

/** The key without the parts that are new on each try; where nothing is left, the id that the senders of the scheme give. */
function betterKey(key: string, { verify }: MappingSource): string | undefined {
  const rest = key
    .replaceAll(EXPRESSION, (...match) => (isVolatile(match) ? '' : match[0]))
    .replaceAll(EDGES, '');
  const scheme = typeof verify === 'object' && 'scheme' in verify ? verify.scheme : '';
  return rest.includes('{{') ? rest : ID_OF[scheme];
}

/**
 * A header, the time of receipt or the count of attempts as it is: `{{date now "yyyy-MM-dd"}}` makes a key of one day,
 * and is meant so.
 */
const EXPRESSION =
  /\{\{\s*(headers\.\[?([\w-]+)\]?|now|(?:[\w-]+\.)*(?:\w*_)?(?:attempts?|attempt_(?:number|count)|retr(?:y|ies)_?(?:count|number|num)?))\s*\}\}/g;
/** What stood between a part and its neighbours. */
const EDGES = /^[-:_/.|\s]+|[-:_/.|\s]+$/g;

function isVolatile([, , header]: readonly unknown[]): boolean {
  return typeof header !== 'string' || NEW_ON_EACH_TRY.has(header.toLowerCase());
}
