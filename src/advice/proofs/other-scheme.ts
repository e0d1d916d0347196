import {
  type Diagnosis,
  MAX_TRIED_BYTES,
  type ProviderName,
  type Scheme,
  SCHEMES,
  type SignedRequest,
} from '../../verify/verify.ts';
import { wholeVerify, writtenScheme } from './written-verify.ts';
import { compileWays, type SignatureColumns, type TableSettings, type Way } from '../../verify/facts.ts';

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

function rightBy(scheme: ProviderName, way: Way, settings: TableSettings): string {
  const headers = headersOf(way);
  const reads = headers.length === 0 ? '' : `, which reads ${headers.join(', ')}`;
  return `the request is right by the scheme ${scheme}${reads}, with the secret as it is: replace the whole verify by: ${wholeVerify(scheme, settings)}`;
}

function headersOf(way: Way): readonly string[] {
  if (way.kind === 'secret') return [way.header];
  if (way.kind !== 'signature') return [];
  const { header, timestampHeader, idHeader } = way.columns;
  return [header, timestampHeader, idHeader].filter((name) => name !== undefined);
}

/** A finding that names keys of the general scheme. */
const KEYS = /set ((?:\w+: (?:'[^']{0,40}'|\w+)(?:, )?)+) of the scheme hmac$/;

/** Of a path by the name of a provider, which has no such key: the whole verify with all that the name stood for. */
export function withWholeVerify(found: Diagnosis, way: Way, settings: TableSettings): Diagnosis {
  const [asked, keys = ''] = KEYS.exec(found.text) ?? [];
  if (asked === undefined || way.kind !== 'signature') return found;
  const change = Object.fromEntries(
    [...keys.matchAll(/(\w+): (?:'([^']*)'|(\w+))/g)].map(([, key = '', quotes, word]) => [
      key,
      quotes ?? word,
    ]),
  );
  if ('header' in settings) return { ...found, text: found.text.replace(asked, () => ownKeys(keys, change)) };
  const { algorithm = way.columns.algorithm, ...others } = change;
  const hash = algorithm.startsWith('hmac-') ? algorithm : `hmac-${algorithm}`;
  const columns = { ...way.columns, ...others, algorithm: hash } as SignatureColumns;
  const text = `replace the whole verify by: ${wholeVerify(writtenScheme(columns), settings)}`;
  return { ...found, text: found.text.replace(asked, () => text) };
}

/** The keys to write at the general scheme, which has them; an empty prefix is none. */
function ownKeys(keys: string, change: Readonly<Record<string, string | undefined>>): string {
  if (change['prefix'] !== '') return `write ${keys} in verify of the mapping`;
  const others = keys.replace(/prefix: ''(?:, )?/, '');
  return `remove prefix from verify of the mapping${others === '' ? '' : `, and write ${others} there`}`;
}
