import { isJsonObject, type JsonObject, type JsonValue, valueAt } from '../../base/json.ts';
import { isUnkept, type HookRequest } from '../../base/request.ts';
import { deliveryHeaders } from '../advice/proof-headers.ts';
import type { Sender } from '../../engine/senders/senders.ts';

export type SentSample = Pick<HookRequest, 'headers' | 'query' | 'payload'>;

/** What tells the kinds of events apart: a field as templates name it, and the kind of each sample. */
export interface KindField {
  readonly path: string;
  readonly values: readonly string[];
}

function textAt({ headers, payload }: SentSample, path: string): string | undefined {
  const [root, ...rest] = path.split('.');
  const value = root === 'headers' ? headers[rest.join('.')] : valueAt(payload, path.split('.'));
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  return text !== '' && text.length <= 100 && !text.includes('\n') ? text : undefined;
}

function valuesOf(samples: readonly SentSample[], path: string): readonly string[] | undefined {
  const values = samples.map((sample) => textAt(sample, path)).filter((value) => value !== undefined);
  return values.length === samples.length ? values : undefined;
}

/**
 * Matches `x-github-event`, `x-shopify-topic`, `x-event-key` and `ce-type`, but no id and no name for the
 * form of the body.
 */
const OF_A_KIND =
  /^(?!content-|accept|sec-|upgrade)(?:[\w-]+-)?(?:events?|topic|action|trigger|resource|kind|ce-type|(?:event|message|notification|webhook|hook|request|resource)-(?:type|key|name|kind|action|state))$/;
const VALUE = /^[\w .:/-]{1,60}$/;

/** Returns the names of headers that say the kind of an event, in the order of the request. */
function kindHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    name.length <= 60 && OF_A_KIND.test(name) && VALUE.test(value) && !isUnkept(value) ? [name] : [],
  );
}

const KIND_FIELD = /(?:^|\.)(?:type|event|event_?type|event_?name|topic|kind|action|webhook_?event|status)$/i;

/**
 * Finds what tells the kinds apart: what is known of the sender, else what differs between samples, else what looks so.
 */
export function kindOf(
  samples: readonly SentSample[],
  sender?: Pick<Sender, 'kind' | 'id'>,
): KindField | undefined {
  const [first] = samples;
  if (first === undefined) return undefined;
  const named = [
    ...(sender?.kind === undefined ? [] : [sender.kind]),
    ...kindHeaders(first.headers).map((name) => `headers.${name}`),
    ...fieldsOf(first.payload).filter((path) => KIND_FIELD.test(path)),
  ];
  const found = named.flatMap((path) => {
    const values = valuesOf(samples, path);
    return values === undefined ? [] : [{ path, values }];
  });
  return found.find(({ values }) => new Set(values).size > 1) ?? found[0];
}

const OF_AN_EVENT = /(?:^|[._-])(?:event|delivery|notification|transmission|evt)[._-]?(?:id|uuid|guid)$/i;
const EVENT_VALUE = /^(?:evt|event|notif|ntf|whevt)[_-]\w/i;
const OF_ANOTHER = /web_?hook|hook[._-]?id|account|subscription|app[._-]|org|workspace|team|tenant/i;

export type EventId = { readonly path: string } | { readonly why: string };

/**
 * Finds the field that names the event and is the same when the event is sent again. A wrong field would lose events.
 */
export function idOf(samples: readonly SentSample[], sender?: Pick<Sender, 'kind' | 'id'>): EventId {
  const [first] = samples;
  if (first === undefined) return { why: NOTHING_SURE };
  if (sender?.id !== undefined && valuesOf(samples, sender.id) !== undefined) return { path: sender.id };
  const known = deliveryHeaders();
  const headers = Object.keys(first.headers).filter(
    (name) => known.has(name) || OF_AN_EVENT.test(name) || name.endsWith('-delivery'),
  );
  const fields = fieldsOf(first.payload).filter(
    (path) => OF_AN_EVENT.test(path) || (path === 'id' && EVENT_VALUE.test(textAt(first, 'id') ?? '')),
  );
  const named = [...headers.map((name) => `headers.${name}`), ...fields].filter(
    (path) => path === 'headers.webhook-id' || !OF_ANOTHER.test(path),
  );
  const there = named.filter((path) => valuesOf(samples, path) !== undefined);
  const bodies = new Set(samples.map(({ payload }) => JSON.stringify(payload)));
  // Samples with other bodies have other values.
  const sure = there.find((path) => new Set(valuesOf(samples, path)).size >= bodies.size);
  if (sure !== undefined) return { path: sure };
  const [same] = there;
  return {
    why:
      same === undefined ? NOTHING_SURE : `${same} is the same in payloads that differ, so it names no event`,
  };
}

const NOTHING_SURE =
  'no field is sure to name the event: an id of the thing that changed would make its second change a repeat, which is lost';

function fieldsOf(payload: JsonValue): readonly string[] {
  if (!isJsonObject(payload)) return [];
  const own = (holder: JsonObject): readonly string[] =>
    Object.keys(holder).filter((key) => /^[A-Za-z_][\w-]{0,60}$/.test(key));
  return own(payload).flatMap((key) => {
    const value = payload[key] ?? null;
    return isJsonObject(value) ? own(value).map((inner) => `${key}.${inner}`) : [key];
  });
}
