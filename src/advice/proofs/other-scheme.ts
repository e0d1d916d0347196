import { say, write, type Sentence } from '../../finding.ts';
import { type Diagnosis, MAX_TRIED_BYTES, SCHEMES, type SignedRequest } from '../../verify/verify.ts';
import { type FoundKeys, type KeyChange, wholeVerify, writtenScheme, replaceBy } from './written-verify.ts';
import {
  compileWays,
  type SignatureColumns,
  type TableSettings,
  type Way,
  type ProviderName,
  type Scheme,
} from '../../verify/facts.ts';

/** Whatever its time: a request that is old is one of the right scheme. */
const ANY_TIME = { toleranceSeconds: Number.MAX_SAFE_INTEGER } as const;

/** The scheme of a provider by which the request is right with the secrets of the path, with the whole verify to write. */
export function explainOtherScheme(
  settings: TableSettings,
  secrets: readonly string[],
  request: SignedRequest,
): Diagnosis | undefined {
  if (request.body.length > MAX_TRIED_BYTES) return undefined;
  for (const scheme of Object.keys(SCHEMES) as readonly ProviderName[]) {
    if (scheme === settings.scheme) continue;
    const { ways } = SCHEMES[scheme] as Scheme;
    const other = { scheme, secrets: settings.secrets, ...ANY_TIME } as TableSettings;
    const at = compileWays(other, secrets).findIndex((way) => way.judge(request, 0).kind === 'proved');
    const way = ways[at]?.way;
    if (way !== undefined) return { code: 'other-scheme', text: rightBy(scheme, way, settings) };
  }
  return undefined;
}

function rightBy(scheme: ProviderName, way: Way, settings: TableSettings): Sentence {
  const headers = headersOf(way);
  const reads = headers.length === 0 ? '' : `, which reads ${headers.join(', ')}`;
  return say`the request is right by the scheme ${scheme}${reads}, with the secret as it is: ${replaceBy(wholeVerify(scheme, settings), 'replace the whole verify by:')}`;
}

function headersOf(way: Way): readonly string[] {
  if (way.kind === 'secret') return [way.header];
  if (way.kind !== 'signature') return [];
  const { header, timestampHeader, idHeader } = way.columns;
  return [header, timestampHeader, idHeader].filter((name) => name !== undefined);
}

/** Where keys have another value: what to write, of a path by the name of a provider the whole verify that the name stands for. */
export function withRemedy({ change, ...found }: FoundKeys, way: Way, settings: TableSettings): Diagnosis {
  if (change === undefined) return found;
  const remedy = way.kind === 'signature' ? remedyOf(change, way.columns, settings) : ofHmac(change);
  return { ...found, text: say`${found.text}: ${remedy}` };
}

const ofHmac = (change: KeyChange): Sentence => say`set ${keysText(change)} of the scheme hmac`;

function remedyOf(change: KeyChange, columns: SignatureColumns, settings: TableSettings): Sentence {
  if ('header' in settings) return ownKeys(change);
  const { algorithm = columns.algorithm } = change;
  const hash = algorithm.startsWith('hmac-') ? algorithm : `hmac-${algorithm}`;
  const other = { ...columns, ...change, algorithm: hash } as SignatureColumns;
  return say`${replaceBy(wholeVerify(writtenScheme(other), settings), 'replace the whole verify by:')}`;
}

/** The keys to write at the general scheme, which has them; an empty prefix is none. */
function ownKeys({ prefix, ...others }: KeyChange): Sentence {
  if (prefix !== '')
    return say`${write(keysText({ ...(prefix === undefined ? {} : { prefix }), ...others }), 'in verify of the mapping')}`;
  const also = keysText(others);
  return say`remove prefix from verify of the mapping${also === '' ? '' : `, and write ${also} there`}`;
}

const keysText = (change: KeyChange): string =>
  Object.entries(change)
    .map(([key, value]) => `${key}: ${key === 'prefix' ? `'${value}'` : value}`)
    .join(', ');
