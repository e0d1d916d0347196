/** What a proof covers: which parts of a request nobody can change without its secret, and where that is not enough. */
import type { BodyFormat } from '../../base/payload/payload.ts';
import type { Way } from './scheme.ts';
import { compileContent } from './signed-content.ts';
import type { ProofSettings } from './verifier.ts';
import type { VerifySettings } from './verify-settings.ts';
import { belongs, type ProofCoverage, coverageOf, isTable, schemeOf } from './ways.ts';

/** What the signature of a path covers; undefined where a secret is sent as it is, which covers nothing. */
export function proofCoverage(proof: ProofSettings): ProofCoverage | undefined {
  const ways = waysOf(proof);
  if (ways.length === 0 || ways.some(({ kind }) => kind === 'secret')) return undefined;
  const covered = ways.map(coverageOf);
  return {
    body: covered.every(({ body }) => body),
    url: covered.every(({ url }) => url),
    headers: covered.flatMap(({ headers }) => headers),
  };
}

function waysOf({ settings, secrets }: ProofSettings): readonly Way[] {
  if (!isTable(settings)) return [];
  const { ways } = schemeOf(settings);
  const own = ways.filter((entry) => secrets.some((secret) => secret !== '' && belongs(entry, secret)));
  return (own.length === 0 ? ways : own).map(({ way }) => way);
}

/** What a path takes beside its proof. */
export interface ProvedPath {
  readonly method?: 'POST' | 'GET' | undefined;
  readonly bodyFormat?: BodyFormat | undefined;
}

/** A part that is used and not covered. */
export interface CoverageGap {
  readonly message: string;
  readonly hint: string;
}

/** Where a signature promises less than what the path uses of a request. */
export function findCoverageGaps(proof: ProofSettings, path: ProvedPath): readonly CoverageGap[] {
  const { settings } = proof;
  if (settings.scheme === 'oidc') return findOpenKeys(settings);
  const covered = proofCoverage(proof);
  const [way] = waysOf(proof);
  if (covered === undefined || way?.kind !== 'signature') return [];
  return [...findOpenPayload(covered, path, 'header' in settings), ...findOpenParts(way.columns)];
}

function findOpenPayload(
  { body, url }: ProofCoverage,
  { method, bodyFormat }: ProvedPath,
  isGeneral: boolean,
): readonly CoverageGap[] {
  if (method === 'GET') return url ? [] : [isGeneral ? OPEN_QUERY : { ...OPEN_QUERY, hint: SENDS_POST }];
  if (!body) return [OPEN_BODY];
  return bodyFormat === 'cloudevents' ? [OPEN_ATTRIBUTES] : [];
}

const OPEN_QUERY: CoverageGap = {
  message:
    'the signature covers the body, and of a GET the query is the payload: whoever has one signed request can send any query with it',
  hint: "write signed: '{url}', with {timestamp} where the sender signs a time, and set server.publicUrl; a sender that does not sign its address has to send POST",
};
const SENDS_POST = 'remove method: GET: this sender signs the body of a POST';
const OPEN_BODY: CoverageGap = {
  message: 'without {body} the payload is not signed',
  hint: 'write {body} into signed where the sender signs it; only with method: GET, where the query is the payload, {url} is enough',
};
const OPEN_ATTRIBUTES: CoverageGap = {
  message:
    'the signature covers the body, and a binary CloudEvent has its type, source and id in headers: whoever has one signed request can send it with others',
  hint: 'write bodyFormat: json and let the sender send structured events (application/cloudevents+json): type, source and data.… are then read from the signed body',
};

type SignedColumns = Extract<Way, { kind: 'signature' }>['columns'];

function findOpenParts(columns: SignedColumns): readonly CoverageGap[] {
  const { signed, timestampField, timestampHeader, timestampMember } = columns;
  const time = timestampField ?? timestampHeader;
  const isTimeOpen =
    (time !== undefined && !signed.includes('{timestamp}')) ||
    (time === undefined && timestampMember !== undefined && !/\{(?:body|timestamp)\}/.test(signed));
  const parts = compileContent(signed);
  const beside = parts.find((part, at) => {
    const next = parts[at + 1];
    return next !== undefined && isMovable(part.kind, next.kind);
  });
  return [
    ...(isTimeOpen
      ? [
          {
            message: `the time of signing (${time ?? timestampMember ?? ''}) is no part of what is signed (${signed}): an old request with a new time is taken`,
            hint: `write signed as the sender signs it, e.g. '{timestamp}.${signed}'; where it does not sign the time, remove the key that names it`,
          },
        ]
      : []),
    ...(beside === undefined ? [] : [MOVABLE]),
  ];
}

/** A time has a form of its own, and one that took a digit of its neighbour lies far from now. */
function isMovable(kind: string, next: string): boolean {
  const isOpen = (each: string): boolean => each !== 'text' && each !== 'timestamp';
  return (kind === 'id' || next === 'id') && isOpen(kind) && isOpen(next);
}

const MOVABLE: CoverageGap = {
  message:
    'in signed {id} stands right beside another part: letters can be moved from one to the other, and the signature stays right',
  hint: "write between them what the sender writes there, e.g. '{id}.{body}'; where it writes nothing, this signature cannot be relied on: use the hook token (remove verify) or another scheme of the sender",
};

/** Keys that somebody on the way could replace. An issuer whose keys come from elsewhere is only a name. */
function findOpenKeys({
  issuer,
  jwksUri,
}: Extract<VerifySettings, { scheme: 'oidc' }>): readonly CoverageGap[] {
  const { protocol, hostname } = new URL(jwksUri ?? issuer);
  if (protocol === 'https:' || /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)) return [];
  return [
    {
      message: `the keys of the issuer are fetched over http (${jwksUri === undefined ? 'issuer' : 'jwksUri'}): whoever is on the way can put its own in their place and sign any token`,
      hint: 'write its address with https; where the issuer has none, write jwksUri with an address of https that has its keys',
    },
  ];
}
