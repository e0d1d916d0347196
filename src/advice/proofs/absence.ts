/** What names and forms of headers say where no trial fitted: which sender this is, and how its signature is written. */
import { say, todo, type Sentence } from '../../finding.ts';
import { type Diagnosis, MAX_TRIED_BYTES, SCHEMES, type SignedRequest } from '../../verify/verify.ts';
import { signedBy } from '../vocabulary/senders.ts';
import { wholeVerify, writtenScheme, replaceBy } from './written-verify.ts';
import {
  findHeader,
  headerOf,
  readPresented,
  schemeOf,
  type SignatureColumns,
  type TableSettings,
  type Way,
  type Scheme,
} from '../../verify/facts.ts';
import { hashOf, isSureShape, shapesOf } from './signature-shapes.ts';

/** A header that carries the proof of known senders. */
export interface ProofHeader {
  readonly header: string;
  /** Schemes that send it. */
  readonly schemes: readonly string[];
}

/** The first header of a request that is the proof of a known sender, in its form, but for `except`. */
export function findProofHeader(
  rawHeaders: readonly string[],
  except: ReadonlySet<string | undefined> = new Set(),
): ProofHeader | undefined {
  const found = Object.entries(SCHEMES as Readonly<Record<string, Scheme>>).flatMap(([name, { ways }]) => {
    const way = ways.find((each) => {
      const header = headerOf(each.way);
      const isThere = header !== undefined && findHeader(rawHeaders, header) !== undefined;
      return isThere && !except.has(header) && isOfForm(each.way, rawHeaders);
    })?.way;
    const header = way && headerOf(way);
    return header === undefined ? [] : [{ name, header }];
  });
  const [first] = found;
  if (first === undefined) return undefined;
  const schemes = found.filter(({ header }) => header === first.header).map(({ name }) => name);
  return { header: first.header, schemes };
}

/** Whether the headers carry such a proof, in its form and, of a hash, in its length. */
export function isCarried(way: Way, rawHeaders: readonly string[]): boolean {
  const header = headerOf(way);
  if (header === undefined || findHeader(rawHeaders, header) === undefined) return false;
  if (way.kind !== 'signature') return true;
  const presented = signatureIn(way.columns, rawHeaders);
  const hash = /^hmac-(.*)/.exec(way.columns.algorithm)?.[1];
  return typeof presented !== 'string' && (hash === undefined || hash === hashOf(presented.signatures[0]));
}

const isOfForm = (way: Way, rawHeaders: readonly string[]): boolean =>
  way.kind !== 'signature' || signatureIn(way.columns, rawHeaders) !== 'malformed-proof';

/** The signature alone, whatever else the sender has to send with it. */
function signatureIn(
  { algorithm, header, encoding, prefix = '', separator, assign = '=', signatureField }: SignatureColumns,
  rawHeaders: readonly string[],
): ReturnType<typeof readPresented> {
  const list = separator === undefined ? {} : { separator, assign, signatureField: signatureField ?? '' };
  const columns = { algorithm, header, encoding, prefix, signed: '', ...list };
  return readPresented(columns, [], { method: '', url: '', rawHeaders, body: Buffer.alloc(0) });
}

/** The header of another scheme or sender says that the path names the wrong one. */
export function explainAbsence(settings: TableSettings, request: SignedRequest): Diagnosis {
  const wanted = new Set(schemeOf(settings).ways.map(({ way }) => headerOf(way)));
  const other = otherSender(settings, request, wanted);
  if (other !== undefined) {
    const { header, what, verify, or = '', readsSecret = false } = other;
    return {
      code: 'other-scheme',
      text: say`the request carries ${header}, ${what}; this path expects ${settings.scheme}: ${replaceBy(verify)}${or}${readsSecret ? '' : misfit(request)}`,
    };
  }
  const expected = [...wanted].filter((header) => header !== undefined);
  const what = expected.length === 0 ? say`the fields timestamp, token and signature` : expected.join(' or ');
  return {
    code: 'no-proof',
    text: say`the request carries no proof: ${what} is not there; ${todo}set the secret at the sender, or look whether a proxy removes the header`,
  };
}

/** The signature that came to a path that asks for a token or a password. */
export function explainSignatureThere(settings: WithSecrets, request: SignedRequest): Diagnosis | undefined {
  const other = otherSender(settings, request, new Set());
  return (
    other && {
      code: 'other-scheme',
      text: say`the request carries ${other.header}, ${other.what}; this path expects ${settings.scheme}: ${replaceBy(other.verify)}${other.or ?? ''}, and set the secret that this sender signs with`,
    }
  );
}

type WithSecrets = Pick<TableSettings, 'secrets'> & { readonly scheme: string };

interface OtherSender {
  readonly header: string;
  readonly what: Sentence;
  readonly verify: string;
  /** Other schemes that it may be as well. */
  readonly or?: string;
  /** Whether the secret is read in another way than it was tried in. */
  readonly readsSecret?: boolean;
}

function otherSender(
  settings: WithSecrets,
  request: SignedRequest,
  wanted: ReadonlySet<string | undefined>,
): OtherSender | undefined {
  const scheme = findProofHeader(request.rawHeaders, wanted);
  if (scheme !== undefined) {
    const { header, schemes } = scheme;
    const [first = '', ...more] = schemes;
    const or = more.length === 0 ? '' : `, or with scheme: ${more.join(' or ')}, as the sender is`;
    const what = say`which is the header of ${schemes.join(' and ')}`;
    return { header, what, verify: wholeVerify(first, settings), or };
  }
  const known = signedBy().filter(({ columns }) => isSignedAs(columns, request));
  const shape = known[0]?.columns ?? shapesOf(request).find(isSureShape);
  if (shape === undefined || wanted.has(shape.header)) return undefined;
  const senders = known.filter(({ columns }) => columns.header === shape.header);
  const what =
    senders.length === 0
      ? say`a signature in the form of ${formName(shape)}`
      : say`the signature of ${senders.map(({ sender }) => sender.title).join(' or ')}`;
  const readsSecret = shape.secretEncoding !== undefined;
  return { header: shape.header, what, verify: wholeVerify(writtenScheme(shape), settings), readsSecret };
}

function isSignedAs(columns: SignatureColumns, { rawHeaders }: SignedRequest): boolean {
  const presented = signatureIn(columns, rawHeaders);
  return (
    typeof presented !== 'string' && columns.algorithm === `hmac-${hashOf(presented.signatures[0]) ?? ''}`
  );
}

function formName({ algorithm, encoding, prefix }: SignatureColumns): Sentence {
  const after = prefix === undefined ? '' : ` after "${prefix}"`;
  return say`HMAC with ${algorithm.replace('hmac-', '')} in ${encoding}${after}`;
}

/** Where the body was there to try the secret with, it was tried and fits none of this. */
function misfit({ body }: SignedRequest): Sentence {
  return body.length === 0 || body.length > MAX_TRIED_BYTES
    ? say``
    : say`; the secret of this path does not fit this signature either, so set the one that this sender signs with`;
}
