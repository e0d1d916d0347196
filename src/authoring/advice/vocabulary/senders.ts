/** What the files of senders say, for those who advise: of which sender a header is, and what it calls its secret. */
import { findSender, type Sender, shippedSenders } from '../../../engine/senders/senders.ts';
import { isTable, schemeOf, type SignatureColumns } from '../../../engine/verify/facts.ts';
import type { VerifySettings } from '../../../engine/verify/verify.ts';

/** The signature that a sender describes in keys of a general scheme. */
export function signatureOf(sender: Sender): SignatureColumns | undefined {
  if (sender.verify?.scheme !== 'hmac') return undefined;
  const [first] = waysOf(sender);
  return first?.kind === 'signature' ? first.columns : undefined;
}

/** The ways in which a sender proves itself, where it signs. */
export function waysOf({ verify }: Sender): readonly ReturnType<typeof schemeOf>['ways'][number]['way'][] {
  const settings = { ...verify, secrets: [] } as unknown as VerifySettings;
  return verify !== undefined && isTable(settings) ? schemeOf(settings).ways.map(({ way }) => way) : [];
}

/** Headers of transport that are new for each request. */
const OF_TRANSPORT = ['date', 'traceparent', 'x-amzn-trace-id', 'cf-ray'];

/** Headers that senders make anew each time they send an event, the same one included: times and signatures over them. */
export const retryHeaders = (): ReadonlySet<string> =>
  new Set([
    ...OF_TRANSPORT,
    ...shippedSenders().flatMap((sender) => [
      ...(sender.retryHeaders ?? []),
      ...waysOf(sender).flatMap((way) => (way.kind === 'signature' ? timedHeaders(way.columns) : [])),
    ]),
  ]);

function timedHeaders({ header, signed, timestampHeader }: SignatureColumns): readonly string[] {
  if (!signed.includes('{timestamp}')) return [];
  return timestampHeader === undefined ? [header] : [header, timestampHeader];
}

const OF_HEADERS = 'headers.';

/** Headers with the id of one event or delivery: no two events have the same. */
export const deliveryHeaders = (): ReadonlySet<string> =>
  new Set([
    ...shippedSenders().flatMap(({ id = '', deliveryHeaders: more = [] }) =>
      id.startsWith(OF_HEADERS) ? [id.slice(OF_HEADERS.length), ...more] : more,
    ),
    'x-request-id',
    'request-id',
  ]);

/** The id of an event or delivery, which a repeat has again, as a template, by the scheme of the proof. */
export function eventIdOf(scheme: string): string | undefined {
  const id = ownSender(scheme)?.id;
  return id === undefined ? undefined : `{{${id}}}`;
}

/** Fields that all events of one webhook have alike: headers of any sender, and fields of the body of this one. */
export const webhookIds = (scheme: string, path: string): ReadonlySet<string> =>
  new Set(
    shippedSenders().flatMap(({ name, verify, webhookIds: ids = [] }) =>
      ids.filter((id) => id.startsWith(OF_HEADERS) || name === path || verify?.scheme === scheme),
    ),
  );

/** What a secret of this scheme is to be, where its provider shows it under a name. */
export const shownAs = (scheme: string): string | undefined => ownSender(scheme)?.secret?.what;

/** The sender after whom a scheme is named. */
export function ownSender(scheme: string): Sender | undefined {
  return shippedSenders().find(({ name, verify }) => name === scheme && verify?.scheme === scheme);
}

/** What schemes are called elsewhere. */
const SCHEME_WORDS: Readonly<Record<string, string>> = {
  signature: 'hmac',
  bearer: 'token',
  'bearer-token': 'token',
  apikey: 'header',
  'api-key': 'header',
  jwt: 'oidc',
  oauth: 'oidc',
  'basic-auth': 'basic',
};

/** The scheme that is meant by a name that is none, with the reason where a sender signs as another does. */
export function schemeWord(word: string): readonly [scheme: string, why?: string] | undefined {
  if (Object.hasOwn(SCHEME_WORDS, word)) return [SCHEME_WORDS[word] ?? ''];
  const { verify: { scheme } = {} } = findSender(word) ?? {};
  const owner = scheme === undefined || scheme === word ? undefined : ownSender(scheme);
  return owner === undefined ? undefined : [owner.name, `signs as ${owner.title} does`];
}
