/** Reads the files of senders for advice: which sender a header belongs to, and what the sender calls its secret. */
import { type Sender, shippedSenders } from '../../../engine/senders/senders.ts';
import { isTable, schemeOf, type SignatureColumns } from '../../../engine/verify/facts.ts';
import type { SecretFacts, VerifySettings } from '../../../engine/verify/verify.ts';

export function waysOf({ verify }: Sender): readonly ReturnType<typeof schemeOf>['ways'][number]['way'][] {
  const settings = { ...verify, secrets: [] } as unknown as VerifySettings;
  return verify !== undefined && isTable(settings) ? schemeOf(settings).ways.map(({ way }) => way) : [];
}

/** Transport headers are new for each request. */
const OF_TRANSPORT = ['date', 'traceparent', 'x-amzn-trace-id', 'cf-ray'];

/** Senders make these headers anew each time they send an event, even the same one: times and signatures over them. */
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

/** Such headers have the id of one event or delivery, so no two events share one. */
export const deliveryHeaders = (): ReadonlySet<string> =>
  new Set([
    ...shippedSenders().flatMap(({ id = '', deliveryHeaders: more = [] }) =>
      id.startsWith(OF_HEADERS) ? [id.slice(OF_HEADERS.length), ...more] : more,
    ),
    'x-request-id',
    'request-id',
  ]);

/** Such fields are the same in all events of one webhook: headers of any sender, and fields of this sender's body. */
export const webhookIds = (scheme: string, path: string): ReadonlySet<string> =>
  new Set(
    shippedSenders().flatMap(({ name, verify, webhookIds: ids = [] }) =>
      ids.filter((id) => id.startsWith(OF_HEADERS) || name === path || verify?.scheme === scheme),
    ),
  );

/** Says what a secret of this scheme is, where its provider shows it under a name. */
export const secretTitle = (scheme: string): string | undefined => ownSender(scheme)?.secret?.what;

function ownSender(scheme: string): Sender | undefined {
  return shippedSenders().find(({ name, verify }) => name === scheme && verify?.scheme === scheme);
}

export function secretHint({ scheme, wrong, user }: SecretFacts): string {
  if (wrong === 'quotes')
    return 'remove the quotes where the value is set (an env file of docker keeps them), not those in the mapping';
  if (user !== undefined)
    return 'remove the user and the colon from its value: a secret of the scheme basic is the password alone';
  if (wrong === 'form')
    return `set it to ${secretTitle(scheme) ?? 'the secret that the sender shows for its webhook'}`;
  const { public: isPublic = false, what = '' } = ownSender(scheme)?.secret ?? {};
  return `set ${isPublic ? `it to ${what}` : 'what it refers to'}; without a good secret the path refuses every request`;
}
