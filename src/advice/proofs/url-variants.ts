import { findHeader } from '../../verify/facts.ts';

/** An address as the sender may have called it. */
export interface UrlVariant {
  readonly url: string;
  /** How it differs from the one that was tried, for people. */
  readonly how: string;
  /** What to change. */
  readonly remedy: string;
}

const KEEP_PATH =
  'something on the way changes the path: let the proxy pass it on as it came, or enter the address at the sender as it arrives here';

const ABSOLUTE = /^(https?):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?$/is;

/** A path of an address that is cut this often, and no more. */
const MAX_CUTS = 6;

/**
 * The addresses that a sender behind a proxy may have signed instead: each origin that may be meant with each path,
 * those that differ in one thing first. The headers of the request say which hosts may be meant.
 */
export function urlVariants(url: string, rawHeaders: readonly string[]): readonly UrlVariant[] {
  const match = ABSOLUTE.exec(url);
  if (match === null) return [];
  const [, scheme = '', authority = '', path = '', query = ''] = match;
  const origins = originVariants(scheme, authority, rawHeaders);
  const paths = pathVariants(path, query);
  const own = `${scheme}://${authority}`;
  const variants: readonly UrlVariant[] = [
    ...origins.map(({ text, ...said }) => ({ url: text + path + query, ...said })),
    ...paths.map(({ text, ...said }) => ({ url: own + text, ...said })),
    ...origins.flatMap((origin) =>
      paths.map(({ text, how, remedy }) => ({
        url: origin.text + text,
        how: `${how}, and ${origin.how}`,
        remedy: `${remedy}; and ${origin.remedy}`,
      })),
    ),
  ];
  return variants.filter((variant) => variant.url !== url);
}

interface PartVariant extends Omit<UrlVariant, 'url'> {
  readonly text: string;
}

/** Headers in which the host stands that the sender called; what they say counts only where it was signed. */
const HOST_HEADERS = [
  ['host', 'Host'],
  ['x-forwarded-host', 'X-Forwarded-Host'],
] as const;

function originVariants(
  scheme: string,
  authority: string,
  rawHeaders: readonly string[],
): readonly PartVariant[] {
  const [other, port] = scheme.toLowerCase() === 'https' ? ['http', 443] : ['https', 80];
  const bare = authority.replace(/:\d+$/, '');
  const variants = [
    { text: `${other}://${authority}`, how: `with ${other} for ${scheme}` },
    { text: `${scheme}://${bare}`, how: 'without its port' },
    { text: `${scheme}://${bare}:${port}`, how: 'with its standard port' },
    { text: `${other}://${bare}`, how: `with ${other} for ${scheme} and without its port` },
    ...HOST_HEADERS.flatMap(([header, name]) => {
      const host = findHeader(rawHeaders, header);
      return (typeof host === 'string' ? ['https', 'http'] : []).map((each) => ({
        text: `${each}://${String(host)}`,
        how: `with ${each} and the host of the ${name} header`,
      }));
    }),
  ];
  return variants
    .filter(({ text }) => text !== `${scheme}://${authority}`)
    .map((variant) => ({ ...variant, remedy: `write publicUrl: ${variant.text} below server` }));
}

/** The path without its query, with its slash at the end changed, and without what it may begin with twice. */
function pathVariants(path: string, query: string): readonly PartVariant[] {
  const steps = path.split('/').slice(1);
  const cuts = steps.slice(1, MAX_CUTS).map((_, index) => {
    const begin = `/${steps.slice(0, index + 1).join('/')}`;
    return {
      text: path.slice(begin.length) + query,
      how: `with the path ${path.slice(begin.length)}, but this service took it for ${path}`,
      remedy: `server.publicUrl is only the beginning of the address, and the path of the hook is added to it: write it without ${begin} at its end`,
    };
  });
  return [
    ...(query === '' ? [] : [{ text: path, how: 'without its query', remedy: KEEP_PATH }]),
    path.endsWith('/')
      ? { text: path.slice(0, -1) + query, how: 'without the slash at its end', remedy: KEEP_PATH }
      : { text: `${path}/${query}`, how: 'with a slash at its end', remedy: KEEP_PATH },
    ...cuts,
  ];
}
