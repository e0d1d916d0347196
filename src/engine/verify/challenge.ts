import { createHmac } from 'node:crypto';
import * as z from 'zod';
import { isSameText } from '../../base/compare-secrets.ts';
import { findHeader } from './find-header.ts';
import type { SignedRequest } from './scheme.ts';
import { readJsonMember } from './signed-fields.ts';
import { SecretReference } from './verify-settings.ts';

/** Questions that providers ask an address before they send anything to it. */
const CHALLENGES = ['slack', 'meta', 'graph', 'zoom', 'cloudevents', 'notion'] as const;
export type ChallengeName = (typeof CHALLENGES)[number];

/* A question that stands in one place of a request and wants it back: the way in which most providers check an address. */

const MAX_ECHO_BYTES = 1024;
const HEADER_NAME = /^[A-Za-z\d][A-Za-z\d-]{0,79}$/;
/** What a header of an answer can carry without a second line, or an escape. */
const HEADER_TEXT = /^[\x21-\x7e]+$/;

/** `challenge: {echo: …}` of a path, as it is written in a mapping. */
const EchoSettings = z.strictObject({
  echo: z
    .string()
    .regex(/^(?:query\.[\w.-]{1,80}|headers\.[A-Za-z\d][A-Za-z\d-]{0,79}|body(?:\.[\w-]{1,80}){1,5})$/, {
      error: 'query.NAME, headers.NAME or body.NAME, such as query.challenge',
    })
    .describe(
      'Where the text stands that is sent back: query.NAME of a GET, headers.NAME, or body.NAME of a POST.',
    ),
  as: z
    .enum(['text', 'json', 'header'])
    .optional()
    .describe('How it is sent back; default text for query, json for body, header for headers.'),
  name: z
    .string()
    .regex(/^[\w.-]{1,80}$/)
    .optional()
    .describe('The key or the header in which it is sent back; default the name that it came under.'),
});
type EchoSettings = z.output<typeof EchoSettings>;

type ChallengeSource = 'query' | 'headers' | 'body';

interface EchoQuestion {
  readonly kind: 'echo';
  readonly from: ChallengeSource;
  /** One name, or those on the way to a member of the body. */
  readonly path: readonly string[];
  readonly as: 'text' | 'json' | 'header';
  readonly name: string;
}

const USUAL_FORMS = { query: 'text', headers: 'header', body: 'json' } as const;

function readEcho({ echo, as, name }: EchoSettings): EchoQuestion {
  const dot = echo.indexOf('.');
  const from = echo.slice(0, dot) as ChallengeSource;
  const rest = echo.slice(dot + 1);
  const path = from === 'body' ? rest.split('.') : [from === 'headers' ? rest.toLowerCase() : rest];
  return { kind: 'echo', from, path, as: as ?? USUAL_FORMS[from], name: name ?? path.at(-1) ?? rest };
}

interface AskedRequest extends Pick<SignedRequest, 'method' | 'rawHeaders' | 'body'> {
  readonly query: Readonly<Record<string, string>>;
}

/** The text that is asked to be sent back; undefined of a request that asks nothing. */
function askedText({ from, path }: EchoQuestion, request: AskedRequest): string | undefined {
  const { method, query, rawHeaders, body } = request;
  const [name = ''] = path;
  switch (from) {
    case 'query':
      return method === 'GET' && Object.hasOwn(query, name) ? query[name] : undefined;
    case 'headers': {
      const value = findHeader(rawHeaders, name);
      return typeof value === 'string' ? value : undefined;
    }
    case 'body':
      return method === 'POST' ? (readJsonMember(body, path) ?? formField(body, path)) : undefined;
  }
}

function formField(body: Buffer, [name = '', ...deeper]: readonly string[]): string | undefined {
  if (deeper.length > 0 || body.length > MAX_ECHO_BYTES || body[0] === 0x7b) return undefined;
  return new URLSearchParams(body.toString('utf8')).get(name) ?? undefined;
}

/** Whether a text can be sent back in this form; strangers write it. */
function canEcho({ as, name }: Pick<EchoQuestion, 'as' | 'name'>, text: string): boolean {
  if (text === '' || Buffer.byteLength(text) > MAX_ECHO_BYTES) return false;
  return as !== 'header' || (HEADER_NAME.test(name) && HEADER_TEXT.test(text));
}

/** `challenge` of a path, as it is written in a mapping. */
export const ChallengeSettings = z.union([
  z.enum(CHALLENGES).describe('Who asks; meta needs its token, too.'),
  z.strictObject({
    kind: z.enum(CHALLENGES).describe('Who asks.'),
    token: SecretReference.optional().describe('Reference to the verify token that the question must carry.'),
  }),
  EchoSettings,
  z.strictObject({
    probe: z
      .string()
      .regex(/^(?:HEAD|GET|empty|body\.[A-Za-z_][\w-]{0,79})$/, {
        error: 'HEAD, GET, empty or body.NAME, such as body.webhook_id',
      })
      .describe(
        'Experimental: a request that asks only whether the address is there and gets 200 with nothing in it: a HEAD, a GET, a POST without a body (empty), or one whose only field is NAME (JSON or a form).',
      ),
  }),
]);
export type ChallengeSettings = z.output<typeof ChallengeSettings>;

/** The question of a provider that is known by its name, with the texts its references stand for. */
interface NamedChallenge {
  readonly kind: ChallengeName;
  /** Absent where none is asked for; empty where it is missing. */
  readonly token?: string;
  /** The current secret of the path's proof, for Zoom. */
  readonly secret?: string;
}

/** A request that only asks whether the address exists. */
interface Probe {
  readonly kind: 'probe';
  readonly by: string;
}

export type Challenge = NamedChallenge | EchoQuestion | Probe;

/** What a mapping says, with the texts for its token and for the secret of its path. */
export function compileChallenge(
  written: ChallengeSettings,
  texts: Pick<NamedChallenge, 'token' | 'secret'>,
): Challenge {
  if (typeof written === 'string') return { kind: written, ...texts };
  if ('probe' in written) return { kind: 'probe', by: written.probe };
  return 'echo' in written ? readEcho(written) : { kind: written.kind, ...texts };
}

export interface ChallengeRequest extends SignedRequest {
  readonly query: Readonly<Record<string, string>>;
}

/** What is wrong with a question: its token, what it has to be answered with, its origin, its text, or the time of its key. */
export type ChallengeFault = 'token' | 'secret' | 'origin' | 'text' | 'key';

/** `none`: the request asks nothing. `wrong`: it asks, and its token is wrong or the question is malformed. */
export type ChallengeResult =
  | { readonly kind: 'none' }
  | { readonly kind: 'wrong'; readonly why: ChallengeFault }
  /** The sender sends the secret of the proof itself, as Notion does; the operator confirms it. */
  | { readonly kind: 'key'; readonly key: string }
  | {
      readonly kind: 'answer';
      readonly contentType: 'text/plain' | 'application/json';
      readonly body: string;
      /** Further names and values, flat. */
      readonly headers: readonly string[];
    };

const NONE: ChallengeResult = { kind: 'none' };
const wrong = (why: ChallengeFault): ChallengeResult => ({ kind: 'wrong', why });

/** Whether a challenge of this kind needs the body, so that it has to be read before the answer. */
export function readsBody(challenge: Challenge, method: string): boolean {
  const { kind } = challenge;
  const isInBody =
    kind === 'slack' ||
    kind === 'zoom' ||
    kind === 'notion' ||
    (kind === 'echo' && challenge.from === 'body') ||
    (kind === 'probe' && challenge.by.startsWith('body.'));
  return isInBody && method === 'POST';
}

/** Answers the question of a provider; the body is read by single members, and at most 1 KB is echoed. */
export function answerChallenge(challenge: Challenge, request: ChallengeRequest): ChallengeResult {
  switch (challenge.kind) {
    case 'slack':
      return answerSlack(challenge, request);
    case 'meta':
      return answerMeta(challenge, request);
    case 'graph':
      return answerGraph(request);
    case 'zoom':
      return answerZoom(challenge, request);
    case 'cloudevents':
      return answerCloudEvents(request);
    case 'notion':
      return readNotionKey(request);
    case 'echo':
      return answerEcho(challenge, request);
    case 'probe':
      return isProbe(challenge, request) ? FOUND : NONE;
  }
}

const FOUND: ChallengeResult = { kind: 'answer', contentType: 'text/plain', body: '', headers: [] };

/** An event is never taken for one: it has more than one field. */
function isProbe({ by }: Probe, { method, body }: ChallengeRequest): boolean {
  if (by === 'HEAD' || by === 'GET') return method === by;
  if (method !== 'POST') return false;
  return by === 'empty' ? body.length === 0 : onlyField(body) === by.slice('body.'.length);
}

const ONLY_FIELD =
  /^\s*\{\s*"([\w-]{1,80})"\s*:\s*(?:true|false|null|-?\d{1,20}|"[^"\\]*")\s*\}\s*$|^([\w-]{1,80})=[^&=]*$/;

/** The name of the one field that a short body has, as JSON or as a form; undefined of any other body. */
export function onlyField(body: Buffer): string | undefined {
  if (body.length > 1_024) return undefined;
  const [, member, field] = ONLY_FIELD.exec(body.toString('latin1')) ?? [];
  return member ?? field;
}

function answerEcho(question: EchoQuestion, request: ChallengeRequest): ChallengeResult {
  const text = askedText(question, request);
  if (text === undefined) return NONE;
  const { as, name } = question;
  if (as === 'text') return echo(text);
  if (!canEcho(question, text)) return wrong('text');
  const isJson = as === 'json';
  return {
    kind: 'answer',
    contentType: isJson ? 'application/json' : 'text/plain',
    body: isJson ? JSON.stringify({ [name]: text }) : '',
    headers: isJson ? [] : [name, text],
  };
}

function answerSlack({ token }: NamedChallenge, { method, body }: ChallengeRequest): ChallengeResult {
  if (method !== 'POST' || readJsonMember(body, ['type']) !== 'url_verification') return NONE;
  if (token !== undefined && !isToken(token, readJsonMember(body, ['token']))) return wrong('token');
  return echo(readJsonMember(body, ['challenge']));
}

function answerMeta({ token }: NamedChallenge, { method, query }: ChallengeRequest): ChallengeResult {
  if (method !== 'GET' || query['hub.mode'] !== 'subscribe') return NONE;
  if (!isToken(token ?? '', query['hub.verify_token'])) return wrong('token');
  return echo(query['hub.challenge']);
}

/** Microsoft Graph asks with `?validationToken=` and no body. */
function answerGraph({ method, query, body }: ChallengeRequest): ChallengeResult {
  const token = query['validationToken'];
  return method !== 'POST' || token === undefined || body.length > 0 ? NONE : echo(token);
}

/**
 * Zoom wants its token signed with the secret that also signs its events. Only letters, digits, `_` and `-` are
 * signed: an event is signed as `v0:time:body`, so no answer can be used as the signature of an event.
 */
function answerZoom({ secret = '' }: NamedChallenge, { method, body }: ChallengeRequest): ChallengeResult {
  if (method !== 'POST' || readJsonMember(body, ['event']) !== 'endpoint.url_validation') return NONE;
  const plainToken = readJsonMember(body, ['payload', 'plainToken']);
  if (secret === '' || plainToken === undefined || !/^[A-Za-z0-9_-]{1,256}$/.test(plainToken))
    return wrong('secret');
  const encryptedToken = createHmac('sha256', secret).update(plainToken).digest('hex');
  return {
    kind: 'answer',
    contentType: 'application/json',
    body: JSON.stringify({ plainToken, encryptedToken }),
    headers: [],
  };
}

/** The first request of a subscription, whose one member is the key. */
function readNotionKey({ method, body }: ChallengeRequest): ChallengeResult {
  const text = method === 'POST' && body.length <= 1_024 ? body.toString('latin1') : '';
  const key = /^\s*\{\s*"verification_token"\s*:\s*"([\w-]{16,200})"\s*\}\s*$/.exec(text)?.[1];
  return key === undefined ? NONE : { kind: 'key', key };
}

const ORIGIN = /^[A-Za-z0-9.:-]{1,253}$/;

/** The handshake of CloudEvents' webhooks (HTTP 1.1 Web Hooks for Event Delivery, section 4). */
function answerCloudEvents({ method, rawHeaders }: ChallengeRequest): ChallengeResult {
  const origin = findHeader(rawHeaders, 'webhook-request-origin');
  if (method !== 'OPTIONS' || origin === undefined) return NONE;
  if (typeof origin !== 'string' || !ORIGIN.test(origin)) return wrong('origin');
  const headers = ['allow', 'POST', 'webhook-allowed-origin', origin, 'webhook-allowed-rate', '*'];
  return { kind: 'answer', contentType: 'text/plain', body: '', headers };
}

function echo(text: string | undefined): ChallengeResult {
  if (text === undefined || !canEcho({ as: 'text', name: '' }, text)) return wrong('text');
  return { kind: 'answer', contentType: 'text/plain', body: text, headers: [] };
}

function isToken(expected: string, presented: string | undefined): boolean {
  return expected !== '' && presented !== undefined && isSameText(presented, expected);
}
