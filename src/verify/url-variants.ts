/** An address as the sender may have called it. */
export interface UrlVariant {
  readonly url: string;
  /** How it differs from the one that was tried, for people. */
  readonly how: string;
}

const ABSOLUTE = /^(https?):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?$/is;

/** The addresses that a sender behind a proxy may have signed instead. `host` is what the request itself says. */
export function urlVariants(url: string, host: string | undefined): readonly UrlVariant[] {
  const match = ABSOLUTE.exec(url);
  if (match === null) return [];
  const [, scheme = '', authority = '', path = '', query = ''] = match;
  const rest = path + query;
  const variants: readonly UrlVariant[] = [
    ...originVariants(scheme, authority, rest),
    { url: `${scheme}://${authority}${path}`, how: 'without its query' },
    path.endsWith('/')
      ? { url: `${scheme}://${authority}${path.slice(0, -1)}${query}`, how: 'without the slash at its end' }
      : { url: `${scheme}://${authority}${path}/${query}`, how: 'with a slash at its end' },
    ...(host === undefined ? [] : hostVariants(host, rest)),
  ];
  return variants.filter((variant) => variant.url !== url);
}

function originVariants(scheme: string, authority: string, rest: string): readonly UrlVariant[] {
  const [other, port] = scheme.toLowerCase() === 'https' ? ['http', 443] : ['https', 80];
  const bare = authority.replace(/:\d+$/, '');
  return [
    { url: `${other}://${authority}${rest}`, how: `with ${other} for ${scheme}` },
    { url: `${scheme}://${bare}${rest}`, how: 'without its port' },
    { url: `${scheme}://${bare}:${port}${rest}`, how: 'with its standard port' },
    { url: `${other}://${bare}${rest}`, how: `with ${other} for ${scheme} and without its port` },
  ];
}

function hostVariants(host: string, rest: string): readonly UrlVariant[] {
  return ['https', 'http'].map((scheme) => ({
    url: `${scheme}://${host}${rest}`,
    how: `with ${scheme} and the host of the Host header`,
  }));
}
