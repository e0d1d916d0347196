import type { AdviceNote } from '../hook/hook.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import type { PathSettings } from '../mapping/mapping.ts';
import type { HookRequest } from '../request.ts';

/** What kind of request it is, where that alone explains why no mapping wants it, or why its names find nothing. */
export function notesOn(
  request: HookRequest,
  settings: PathSettings,
  isAmiss: boolean,
): readonly AdviceNote[] {
  const { payload } = request;
  const wrapped = wrapperOf(isJsonObject(payload) ? payload : {});
  return [...kindNotes(request, settings, isAmiss), ...(wrapped === undefined ? [] : [wrapped])];
}

/** The same in words that quote nothing of the request; `isAmiss`: nothing matched, or names found nothing. */
export function kindNotes(
  { payload, headers, query }: HookRequest,
  settings: PathSettings,
  isAmiss: boolean,
): readonly AdviceNote[] {
  const body = isJsonObject(payload) ? payload : {};
  const check = settings.challenge === undefined ? addressCheck(body, { headers, query }) : undefined;
  return [
    ...(isAmiss && Array.isArray(payload) ? [BODY_IS_LIST] : []),
    ...(check === undefined ? [] : [{ code: 'address_check', text: check, names: [] } as const]),
    ...(headers['x-github-event'] === 'ping' ? [GITHUB_PING] : []),
  ];
}

/** Of a request that a mapping took, and whose texts are empty. */
export const BODY_IS_EMPTY: AdviceNote = {
  code: 'body_is_empty',
  text: 'the request has no body, or an empty one: let the sender send what the templates read, or write them so that they read nothing of it (a text without {{ }}, {{query.name}}, {{headers.name}})',
  names: [],
};
const BODY_IS_LIST: AdviceNote = {
  code: 'body_is_list',
  text: 'the body is a list: for one run per element write forEach: payload and {{item.name}}; a value of the first element is {{payload.0.name}}',
  names: [],
};
const GITHUB_PING: AdviceNote = {
  code: 'github_ping',
  text: 'this is the ping that GitHub sends when a webhook is made: no mapping needs to take it; otherwise: skip answers it 204',
  names: [],
};

/** How senders ask whether an address is theirs, before they send events to it; undefined of any other request. */
function addressCheck(
  body: JsonObject,
  { headers, query }: Pick<HookRequest, 'headers' | 'query'>,
): string | undefined {
  const named = challengeOf(body, query);
  if (named !== undefined)
    return `this is how ${named.name} checks the address: add challenge: ${named.kind} to a mapping of this path, and it is answered without a run`;
  if (body['Type'] === 'SubscriptionConfirmation' && typeof body['SubscribeURL'] === 'string')
    return 'this is how Amazon SNS checks the address: open the SubscribeURL of this body once; no mapping needs to take it, and otherwise: skip answers it 204';
  if (typeof body['verification_token'] === 'string' && Object.keys(body).length === 1)
    return 'this is how Notion checks the address: type the verification_token of this body at Notion, and set it as the secret of verify; no mapping needs to take it, and otherwise: skip answers it 204';
  if (headers['x-signature-ed25519'] !== undefined && body['type'] === 0 && 'application_id' in body)
    return 'this is how Discord checks the address: no mapping needs to take it, and otherwise: skip answers it 204, which is what Discord wants';
  return undefined;
}

function challengeOf(
  body: JsonObject,
  query: HookRequest['query'],
): { readonly name: string; readonly kind: string } | undefined {
  if (body['type'] === 'url_verification' && typeof body['challenge'] === 'string')
    return { name: 'Slack', kind: 'slack' };
  if (body['event'] === 'endpoint.url_validation') return { name: 'Zoom', kind: 'zoom' };
  if (query['hub.mode'] === 'subscribe' && query['hub.challenge'] !== undefined)
    return { name: 'Meta', kind: META };
  const isEmpty = Object.keys(body).length === 0;
  return isEmpty && query['validationToken'] !== undefined
    ? { name: 'Microsoft Graph', kind: 'graph' }
    : undefined;
}

/** The token is the text that was typed as "Verify token" at Meta. */
export const META = "{kind: meta, token: '${META_VERIFY_TOKEN}'}";

/** A body that is a text of JSON in one field, as some senders make it. */
function wrapperOf(body: JsonObject): AdviceNote | undefined {
  const [[name, value] = [], ...more] = Object.entries(body);
  if (name === undefined || more.length > 0 || typeof value !== 'string') return undefined;
  if (!isJsonText(value)) return undefined;
  const text = `the body has one field, ${name.slice(0, 40)}, whose value is JSON as a text: its fields cannot be read by path; a transform can, with JSON.parse`;
  return { code: 'json_in_one_field', text, names: [name] };
}

/** Whether a text is JSON, and no title such as "[urgent] the disk is full". */
function isJsonText(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
