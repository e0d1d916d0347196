/** The proofs that a request carries, by the names and forms of its headers alone. */
import {
  findHeader,
  headerOf,
  MERCADO_PAGO,
  readPresented,
  type SignatureColumns,
  type Way,
} from '../../../engine/verify/facts.ts';
import type { SenderProof } from '../../../engine/verify/verify.ts';
import type { Sender } from '../../../engine/senders/senders.ts';
import { waysOf } from '../vocabulary/senders.ts';
import { hashOf } from './signatures.ts';

/** A header that is the proof of known senders, and how these prove themselves: each way once. */
export interface CarriedProof {
  readonly header: string;
  readonly senders: readonly (Sender & { readonly verify: SenderProof })[];
}

/** The first header in the form of a known sender, and all whose proof has that form. */
export function findCarried(
  rawHeaders: readonly string[],
  senders: readonly Sender[],
): CarriedProof | undefined {
  const found = senders.flatMap((sender) =>
    waysOf(sender).flatMap((way) =>
      isCarried(way, rawHeaders) ? [{ sender, header: headerOf(way) ?? '' }] : [],
    ),
  );
  const [first] = found;
  if (first === undefined) return undefined;
  const alike = found.filter(({ header }) => header === first.header);
  return { header: first.header, senders: oneOfEach(alike.map(({ sender }) => sender)) };
}

/** Of senders that prove themselves in the same way the one after whom it is named, or the first. */
export function oneOfEach(senders: readonly Sender[]): CarriedProof['senders'] {
  const ways = new Map<string, Sender & { readonly verify: SenderProof }>();
  for (const { verify, ...sender } of senders) {
    if (verify === undefined) continue;
    const key = JSON.stringify(verify);
    if (verify.scheme === sender.name || !ways.has(key)) ways.set(key, { ...sender, verify });
  }
  return [...ways.values()];
}

/** Whether the headers carry such a proof, in its form and, of a hash, in its length. */
export function isCarried(way: Way, rawHeaders: readonly string[]): boolean {
  const header = headerOf(way);
  if (header === undefined || findHeader(rawHeaders, header) === undefined) return false;
  // Whose header has a common name, and is known by the time beside the signature.
  if (way.kind === 'mercado-pago') return typeof presentedIn(MERCADO_PAGO, rawHeaders) !== 'string';
  if (way.kind !== 'signature') return true;
  // The signature alone, whatever else the sender has to send with it.
  const {
    timestampField: _field,
    timestampHeader: _header,
    timestampMember: _member,
    ...alone
  } = way.columns;
  const presented = presentedIn({ ...alone, signed: '' }, rawHeaders);
  const hash = /^hmac-(.*)/.exec(alone.algorithm)?.[1];
  return typeof presented !== 'string' && (hash === undefined || hash === hashOf(presented.signatures[0]));
}

/** What the headers carry in such a form. */
const presentedIn = (
  columns: SignatureColumns,
  rawHeaders: readonly string[],
): ReturnType<typeof readPresented> =>
  readPresented(columns, [], { method: '', url: '', rawHeaders, body: Buffer.alloc(0) });
