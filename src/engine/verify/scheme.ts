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

export type HmacAlgorithm = 'sha1' | 'sha256' | 'sha384' | 'sha512';
export type SignatureEncoding = 'hex' | 'base64' | 'base64url';
/** How the text of a secret becomes the bytes of a key. */
export type SecretEncoding = 'text' | 'base64' | 'hex';
export type TimestampUnit = 'seconds' | 'milliseconds' | 'iso8601';

/**
 * The columns of a signature in a header. They are the rows of the table of providers and, under the same names,
 * the keys of the general schemes `hmac`, `ed25519` and `ecdsa`.
 */
export interface SignatureColumns {
  readonly algorithm: `hmac-${HmacAlgorithm}` | 'ed25519' | 'ecdsa-sha256';
  /** Lower case. */
  readonly header: string;
  readonly encoding: SignatureEncoding;
  /** Stands before the signature in the header, for example `sha256=`. */
  readonly prefix?: string;
  /** The header is a list of `name=value`; this stands between its items. */
  readonly separator?: string;
  /** Between name and value of an item; default `=`. */
  readonly assign?: string;
  /** The item that carries a signature; it may be there several times. */
  readonly signatureField?: string;
  /** The item that carries the time of signing. */
  readonly timestampField?: string;
  /** The header that carries the time of signing. Lower case. */
  readonly timestampHeader?: string;
  /** The member of the JSON body that carries the time of signing. */
  readonly timestampMember?: string;
  /** Default seconds. */
  readonly timestampUnit?: TimestampUnit;
  /** The header that carries the id of the delivery. Lower case. Signed only where `signed` names it. */
  readonly idHeader?: string;
  /** What is signed: text with `{body}`, `{timestamp}`, `{id}`, `{url}` and `{method}`. */
  readonly signed: string;
  /** Default text. */
  readonly secretEncoding?: SecretEncoding;
  /** Stands before the encoded part of a secret, for example `whsec_`. */
  readonly secretPrefix?: string;
}

/** One way in which a provider proves itself. */
export type Way =
  | { readonly kind: 'signature'; readonly columns: SignatureColumns }
  /** The secret itself stands in a header. */
  | { readonly kind: 'secret'; readonly header: string }
  | { readonly kind: 'twilio'; readonly header: string }
  | { readonly kind: 'mailgun' };

/** Which of a path's secrets belong to a way: by how the secret begins. */
export interface SecretForm {
  /** Only secrets that begin with one of these. */
  readonly beginsWith?: readonly string[];
  /** Not those that begin with one of these. */
  readonly notWith?: readonly string[];
}

/** How one provider proves itself. */
export interface Scheme {
  readonly ways: readonly (SecretForm & { readonly way: Way })[];
  /** How far the signed time may lie from now, before and after; default 300, as most providers name it. */
  readonly toleranceSeconds?: number;
}
