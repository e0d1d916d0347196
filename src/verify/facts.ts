/** What advice reads of proofs, beside what the engine needs. At most 40 names. */
export { basicPair, bearerOf, isOneOf } from './credentials.ts';
export { ENCODINGS, decodeExactly } from './encodings.ts';
export { SEVERAL, findHeader, findHeadersLike } from './find-header.ts';
export { readKey } from './keys.ts';
export { mailgunSignature, readMailgunFields } from './mailgun.ts';
export { type HmacAlgorithm, type SignatureColumns, type Way } from './scheme.ts';
export {
  type PresentedSignature,
  SIGNED_ID,
  findKey,
  hmacOf,
  readPresented,
  valuesOf,
  writtenTime,
} from './signature.ts';
export { type ContentPart, compileContent, contentBytes } from './signed-content.ts';
export { type WrittenUnit, readTime, unitOf } from './timestamps.ts';
export { TWILIO_HEADER, signedFields, twilioSignature, withAndWithoutPort } from './twilio.ts';
export { type TableSettings, belongs, compileWays, isTable, schemeOf } from './ways.ts';
export { headerOf } from './scheme-headers.ts';
export { readJsonMember } from './signed-fields.ts';
