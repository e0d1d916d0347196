/** What advice reads of proofs, beside what the engine needs. At most 40 names. */
export { proofCoverage } from './coverage.ts';
export { basicPair, presentedToken } from './credentials.ts';
export type { FactsOf, FactName, OtherVerify, ProofCode } from './proof-findings.ts';
export { decodeExactly, ENCODINGS } from './keys.ts';
export { findHeader, findHeadersLike, isPlainHeaderName } from './find-header.ts';
export type { HmacAlgorithm, SignatureColumns, TimestampUnit, Way } from './scheme.ts';
export { PROVIDER_NAMES, type ProviderName } from './schemes.ts';
export { signRequest } from './sign.ts';
export { readPresented, SIGNED_ID, unitOf, writtenTime } from './signature.ts';
export { onlyField } from './challenge.ts';
export { readJsonMember } from './signed-fields.ts';
export { secretsText } from './verify-settings.ts';
export { headerOf, isTable, schemeOf, schemesOfHeader, type TableSettings } from './ways.ts';
