/** What advice reads of proofs, beside what the engine needs. At most 40 names. */
export { basicPair, bearerOf, isOneOf, presentedToken, TOKEN_HEADERS } from './credentials.ts';
export { ENCODINGS, decodeExactly } from './encodings.ts';
export { SEVERAL, findHeader, findHeadersLike, isPlainHeaderName } from './find-header.ts';
export { readKey } from './keys.ts';
export { mailgunSignature, readMailgunFields } from './mailgun.ts';
export type { HmacAlgorithm, SignatureColumns, Way, Scheme } from './scheme.ts';
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
export { headerOf, schemesOfHeader } from './scheme-headers.ts';
export { readJsonMember } from './signed-fields.ts';
export { proofCoverage } from './coverage.ts';
export { PROVIDER_NAMES, type ProviderName } from './schemes.ts';
export { secretsText } from './verify-settings.ts';
export { trimMarks } from './trim-marks.ts';
