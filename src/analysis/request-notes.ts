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
  { payload, headers }: HookRequest,
  settings: PathSettings,
  isAmiss: boolean,
): readonly AdviceNote[] {
  const body = isJsonObject(payload) ? payload : {};
  const provider = settings.challenge === undefined ? challengeOf(body) : undefined;
  return [
    ...(isAmiss && Array.isArray(payload) ? [BODY_IS_LIST] : []),
    ...(provider === undefined ? [] : [addressCheck(provider)]),
    ...(headers['x-github-event'] === 'ping' ? [GITHUB_PING] : []),
  ];
}

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

interface Provider {
  readonly name: string;
  /** As `challenge` of a mapping names it. */
  readonly kind: string;
}

function addressCheck({ name, kind }: Provider): AdviceNote {
  const text = `this is how ${name} checks the address: add challenge: ${kind} to a mapping of this path, and it is answered without a run`;
  return { code: 'address_check', text, names: [] };
}

function challengeOf(body: JsonObject): Provider | undefined {
  if (body['type'] === 'url_verification' && typeof body['challenge'] === 'string')
    return { name: 'Slack', kind: 'slack' };
  return body['event'] === 'endpoint.url_validation' ? { name: 'Zoom', kind: 'zoom' } : undefined;
}

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
