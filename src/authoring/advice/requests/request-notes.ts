import { say, todo, write, type Finding, type Sentence } from '../../../base/finding.ts';
import { requestFinding } from './findings.ts';
import { isJsonObject, isJsonText, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { PathSettings } from '../../../engine/mapping/mapping.ts';
import { announcedFormat } from '../../../base/payload/payload.ts';
import type { HookRequest } from '../../../base/request.ts';
import { adviseOnCheck, checkOf, findAddressCheck } from '../vocabulary/address-checks.ts';

/** Says what kind of request it is, where that alone explains why no mapping wants it. */
export function findKind(
  { payload, headers, query }: HookRequest,
  { challenge }: Pick<PathSettings, 'challenge'>,
): Finding | undefined {
  const body = isJsonObject(payload) ? payload : {};
  const check = challenge === undefined ? addressCheck(body, { headers, query }) : undefined;
  if (check !== undefined)
    return { ...requestFinding('address_check', sayAddressCheck(check)), facts: { provider: check } };
  return headers['x-github-event'] === 'ping' ? requestFinding('github_ping', GITHUB_PING) : undefined;
}

/** Recognises a body of another form than was meant: a list, or what was read as one text. */
export function findMisread(request: HookRequest, settings: PathSettings): Finding | undefined {
  const { payload } = request;
  if (Array.isArray(payload)) return requestFinding('body_is_list', BODY_IS_LIST);
  return otherFormatOf(request, settings) ?? misreadOf(payload, settings);
}

export const BODY_IS_LIST = say`the body is a list: ${write('forEach: payload', undefined, 'for one run per element')} and {{item.NAME}} for a field NAME of an element; that of the first element is {{payload.0.NAME}}`;
export const GITHUB_PING = say`this is the ping that GitHub sends when a webhook is made: no mapping needs to take it; otherwise: skip answers it 204`;

const UNANSWERED: Readonly<Record<string, Sentence>> = {
  'Amazon SNS': say`open the SubscribeURL of this body once; no mapping needs to take it, and otherwise: skip answers it 204`,
  'Azure Event Grid': say`open the validationUrl of this body once, or let Event Grid send CloudEvents, whose question challenge: cloudevents answers`,
  Discord: say`no mapping needs to take it, and otherwise: skip answers it 204, which is what Discord wants`,
};

/** Says what to do about the check of a provider. */
export function sayAddressCheck(provider: string): Sentence {
  const known = checkOf(provider);
  return known === undefined
    ? say`this is how ${provider} checks the address: ${UNANSWERED[provider] ?? ''}`
    : adviseOnCheck(known, 'a mapping of this path');
}

/** Recognises a provider that asks for the address before it sends events there. */
function addressCheck(
  body: JsonObject,
  { headers, query }: Pick<HookRequest, 'headers' | 'query'>,
): string | undefined {
  const check = findAddressCheck({
    header: (name) => headers[name],
    query,
    member: (name) => (typeof body[name] === 'string' ? body[name] : undefined),
    hasBody: Object.keys(body).length > 0,
    onlyName: onlyName(body),
  });
  if (check !== undefined) return check.provider;
  if (headers['aeg-event-type'] === 'SubscriptionValidation') return 'Azure Event Grid';
  if (body['Type'] === 'SubscriptionConfirmation' && typeof body['SubscribeURL'] === 'string')
    return 'Amazon SNS';
  const isDiscord =
    headers['x-signature-ed25519'] !== undefined && body['type'] === 0 && 'application_id' in body;
  return isDiscord ? 'Discord' : undefined;
}

function onlyName(body: JsonObject): string | undefined {
  const [name, ...more] = Object.keys(body);
  return more.length === 0 ? name : undefined;
}

function otherFormatOf({ payload, headers }: HookRequest, { bodyFormat }: PathSettings): Finding | undefined {
  const format = announcedFormat(headers['content-type']);
  if (bodyFormat !== 'text' || typeof payload !== 'string' || (format !== 'form' && format !== 'xml'))
    return undefined;
  const text = say`the body is ${format === 'form' ? 'a form' : 'XML'}, and bodyFormat: text of this path reads it as one text: ${write(`bodyFormat: ${format}`, 'in its place')}`;
  return requestFinding('body_is_text', text);
}

/** Recognises JSON that was read as something else, or was made a text before it was sent. */
function misreadOf(payload: JsonValue, { bodyFormat }: PathSettings): Finding | undefined {
  const isJson =
    typeof payload === 'string'
      ? isStructure(payload)
      : bodyFormat === 'form' && isJsonObject(payload) && /^\s*[{[]\s*"/.test(Object.keys(payload)[0] ?? '');
  if (!isJson) return undefined;
  const text =
    bodyFormat === 'form' || bodyFormat === 'text'
      ? say`the body is JSON, and bodyFormat: ${bodyFormat} of this path reads it as ${bodyFormat === 'form' ? 'a form' : 'one text'}: ${todo}remove the line bodyFormat: ${bodyFormat}`
      : say`the whole body is one text that holds JSON, as the sender encoded it twice: ${todo}let it send the object itself (json=data, and not json=json.dumps(data); in JavaScript JSON.stringify once)`;
  return requestFinding('body_is_text', text);
}

/** Whether a text is a list or object in JSON, and not a title such as "[urgent] the disk is full". */
const isStructure = (text: string): boolean => /^\s*[{[]/.test(text) && isJsonText(text);
