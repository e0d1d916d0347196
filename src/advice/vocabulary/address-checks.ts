/* How senders ask whether an address is theirs, and which `challenge` answers them: by names of fields alone. */

import { readJsonMember } from '../../verify/facts.ts';

/** What is looked at: single texts of a request, which may be a stranger's. */
export interface AskingRequest {
  readonly header: (name: string) => string | undefined;
  readonly query: Readonly<Record<string, string>>;
  /** A text of the body, at its root. */
  readonly member: (name: string) => string | undefined;
  /** Whether the body is there: who asks by the address sends none. */
  readonly hasBody: boolean;
  /** The one name of a body that has no other. */
  readonly onlyName: string | undefined;
}

/** Who asks, the line of the mapping that answers, where one does, and what else there is to do. */
export interface AddressCheck {
  readonly provider: string;
  readonly write: string | undefined;
  readonly also: string | undefined;
}

/** The token is the text that was typed as "Verify token" at Meta. */
const META = "challenge: {kind: meta, token: '${META_VERIFY_TOKEN}'}";

type Row = readonly [
  provider: string,
  write: string | undefined,
  asks: (request: AskingRequest) => boolean,
  also?: string,
];

const byHeader =
  (name: string) =>
  ({ header }: AskingRequest) =>
    header(name) !== undefined;
const byQuery =
  (...names: readonly string[]) =>
  ({ query, hasBody }: AskingRequest) =>
    !hasBody && names.every((name) => query[name] !== undefined);

const CHECKS: readonly Row[] = [
  [
    'Slack',
    'challenge: slack',
    ({ member }) => member('type') === 'url_verification' && member('challenge') !== undefined,
  ],
  ['Zoom', 'challenge: zoom', ({ member }) => member('event') === 'endpoint.url_validation'],
  [
    'a hub of WebSub (such as YouTube)',
    'challenge: {echo: query.hub.challenge}',
    byQuery('hub.challenge', 'hub.topic'),
  ],
  [
    'Strava',
    'challenge: {echo: query.hub.challenge, as: json}',
    // Meta asks alike, with a number.
    (request) =>
      byQuery('hub.challenge', 'hub.mode')(request) && !/^\d+$/.test(request.query['hub.challenge'] ?? ''),
  ],
  [
    'Meta',
    META,
    byQuery('hub.challenge', 'hub.mode'),
    'the token is the text that was typed as "Verify token" at Meta',
  ],
  ['Microsoft Graph', 'challenge: graph', byQuery('validationToken')],
  [
    'Asana',
    'challenge: {echo: headers.x-hook-secret}',
    byHeader('x-hook-secret'),
    'the text of this header is the secret of its signatures: the answer of Asana to POST /webhooks has it, too',
  ],
  ['RingCentral', 'challenge: {echo: headers.validation-token}', byHeader('validation-token')],
  [
    'Okta',
    'challenge: {echo: headers.x-okta-verification-challenge, as: json, name: verification}',
    byHeader('x-okta-verification-challenge'),
  ],
  [
    'Smartsheet',
    'challenge: {echo: headers.smartsheet-hook-challenge, name: smartsheet-hook-response}',
    byHeader('smartsheet-hook-challenge'),
  ],
  [
    'Twitch',
    'challenge: {echo: body.challenge, as: text}',
    ({ header }) => header('twitch-eventsub-message-type') === 'webhook_callback_verification',
  ],
  ['Dropbox, Nylas or Adobe', 'challenge: {echo: query.challenge}', byQuery('challenge')],
  ['WeChat', 'challenge: {echo: query.echostr}', byQuery('echostr')],
  [
    'Notion',
    undefined,
    ({ onlyName }) => onlyName === 'verification_token',
    "it sends the secret of verify, without a signature. For this once remove verify, let it call the address with ?token= and the hook token, and write messageTemplate: '{{verification_token}}' in the mapping: the prompt in sluice explain of that request shows it. Type it at Notion, and set it as the secret of verify",
  ],
  ['monday.com', 'challenge: {echo: body.challenge}', ({ onlyName }) => onlyName === 'challenge'],
];

/** Undefined of a request that asks nothing, or in a way that is not known. */
export function findAddressCheck(request: AskingRequest): AddressCheck | undefined {
  const found = CHECKS.find(([, , asks]) => asks(request));
  if (found === undefined) return undefined;
  const [provider, write, , also] = found;
  return { provider, write, also };
}

/** The line for a provider that is called so; undefined where none is known. */
export function challengeFor(name: string): string | undefined {
  const plain = name.toLowerCase();
  return plain.length < 3
    ? undefined
    : CHECKS.find(([provider]) => provider.toLowerCase().includes(plain))?.[1];
}

/** What to write, and where. */
export function adviseOnCheck({ provider, write, also }: AddressCheck, place: string): string {
  const line =
    write === undefined
      ? []
      : [`write ${write} in ${place}, beside match, and it is answered without a proof or a run`];
  return `this is how ${provider} checks the address: ${[...line, ...(also === undefined ? [] : [also])].join('; ')}`;
}

/** The texts of a body that is not proved: each is read by itself, and nothing is built of it. */
export function readTexts(body: Buffer | undefined): Pick<AskingRequest, 'member' | 'onlyName'> {
  if (body === undefined) return { member: () => undefined, onlyName: undefined };
  const [, onlyName] = /^\s*\{\s*"(\w{1,40})"\s*:\s*"[^"\\]*"\s*\}\s*$/.exec(body.toString('latin1')) ?? [];
  return { member: (name) => readJsonMember(body, [name]), onlyName };
}
