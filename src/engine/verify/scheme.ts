import * as z from 'zod';
import { findContentProblem } from './signed-content.ts';

/** What a request is judged by: what arrived, untouched. */
export interface SignedRequest {
  readonly method: string;
  /** The address as the sender called it, with its query; senders that sign the URL sign this text. */
  readonly url: string;
  /** node's flat list of names and values, in which repeated headers stand as they were sent. */
  readonly rawHeaders: readonly string[];
  /** The bytes of the body as received. */
  readonly body: Buffer;
}

export const HMAC_ALGORITHMS = ['sha1', 'sha256', 'sha384', 'sha512'] as const;
export type HmacAlgorithm = (typeof HMAC_ALGORITHMS)[number];

export const HeaderName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, { error: 'must be the name of a header' })
  .transform((name) => name.toLowerCase());

const Signed = z
  .string()
  .min(1)
  .max(200)
  .superRefine((text, context) => {
    const problem = findContentProblem(text);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  })
  .describe(
    'What is signed: text with {body}, {timestamp}, {id}, {url}, {method}; default {body}. With method: GET write {url}.',
  );

/**
 * The keys that describe a signature in a header: of the general schemes `hmac`, `ed25519` and `ecdsa`, and the columns of
 * the table of providers.
 */
export const signatureKeys = {
  header: HeaderName.describe('Header that carries the signature.'),
  encoding: z.enum(['hex', 'base64', 'base64url']).optional().describe('Default hex.'),
  prefix: z.string().min(1).max(40).optional().describe('Text before the signature, such as sha256=.'),
  separator: z.string().min(1).max(4).optional().describe('The header is a list; this stands between items.'),
  assign: z.string().min(1).max(4).optional().describe('Between name and value of an item; default =.'),
  signatureField: z.string().min(1).max(40).optional().describe('Item of the list with the signature.'),
  timestampField: z.string().min(1).max(40).optional().describe('Item of the list with the time.'),
  timestampHeader: HeaderName.optional().describe('Header with the time of signing.'),
  timestampMember: z.string().min(1).max(100).optional().describe('Member of the JSON body with the time.'),
  timestampUnit: z
    .enum(['seconds', 'milliseconds', 'iso8601'])
    .optional()
    .describe('How the time is written; default seconds.'),
  idHeader: HeaderName.optional().describe('Header with the id of the delivery.'),
  signed: Signed.optional(),
  secretEncoding: z.enum(['text', 'base64', 'hex']).optional().describe('How the secret is written.'),
  secretPrefix: z.string().min(1).max(40).optional().describe('Text before the secret, such as whsec_.'),
};

type SignatureKeys = Readonly<z.output<z.ZodObject<typeof signatureKeys>>>;

/** A signature as its keys describe it, with their defaults. */
export interface SignatureColumns extends Omit<SignatureKeys, 'encoding' | 'signed'> {
  readonly algorithm: `hmac-${HmacAlgorithm}` | 'ed25519' | 'ecdsa-sha256';
  readonly encoding: NonNullable<SignatureKeys['encoding']>;
  readonly signed: string;
}
export type TimestampUnit = NonNullable<SignatureColumns['timestampUnit']>;

export type Way =
  | { readonly kind: 'signature'; readonly columns: SignatureColumns }
  /** The secret itself stands in a header. */
  | { readonly kind: 'secret'; readonly header: string }
  | { readonly kind: 'twilio'; readonly header: string }
  | { readonly kind: 'mailgun' };

/** Which of a path's secrets belong to a way: by how the secret begins. */
export interface SecretForm {
  readonly beginsWith?: readonly string[];
  readonly notWith?: readonly string[];
}

export interface Scheme {
  readonly ways: readonly (SecretForm & { readonly way: Way })[];
  /** How far the signed time may lie from now, before and after; default 300, as most providers name it. */
  readonly toleranceSeconds?: number;
}
