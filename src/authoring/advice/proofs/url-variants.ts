import { type FactsOf, findHeader } from '../../../engine/verify/facts.ts';

/** An address as the sender may have called it, and how it differs from the one that was tried. */
export interface UrlVariant {
  readonly url: string;
  readonly facts: FactsOf<'other-url'>;
}

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
  const own = `${scheme}://${authority}`;
  const origins = originsOf(scheme, authority, rawHeaders).filter((origin) => origin !== own);
  const paths = pathsOf(path, query);
  return [
    ...origins.map((origin) => ({ url: origin + path + query, facts: { origin: { sent: origin } } })),
    ...paths.map(({ text, ...facts }) => ({ url: own + text, facts })),
    ...origins.flatMap((origin) =>
      paths.map(({ text, ...facts }) => ({
        url: origin + text,
        facts: { origin: { sent: origin }, ...facts },
      })),
    ),
  ];
}

/** With the other scheme and the other port, and with hosts that only count where they were signed. */
function originsOf(scheme: string, authority: string, rawHeaders: readonly string[]): readonly string[] {
  const [other, port] = scheme.toLowerCase() === 'https' ? ['http', 443] : ['https', 80];
  const bare = authority.replace(/:\d+$/, '');
  const hosts = ['host', 'x-forwarded-host'].flatMap((name) => findHeader(rawHeaders, name) ?? []);
  return [
    `${other}://${authority}`,
    `${scheme}://${bare}`,
    `${scheme}://${bare}:${port}`,
    `${other}://${bare}`,
    ...hosts.flatMap((host) => (typeof host === 'string' ? [`https://${host}`, `http://${host}`] : [])),
  ];
}

interface PathVariant extends Pick<FactsOf<'other-url'>, 'path' | 'cut'> {
  readonly text: string;
}

/** The path without its query, with its slash at the end changed, and without what it may begin with twice. */
function pathsOf(path: string, query: string): readonly PathVariant[] {
  const steps = path.split('/').slice(1);
  const cuts = steps.slice(1, MAX_CUTS).map((_, index): PathVariant => {
    const cut = `/${steps.slice(0, index + 1).join('/')}`;
    return { text: path.slice(cut.length) + query, path: 'begin', cut };
  });
  const slash = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
  return [
    ...(query === '' ? [] : [{ text: path, path: 'query' } as const]),
    { text: slash + query, path: 'slash' },
    ...cuts,
  ];
}
