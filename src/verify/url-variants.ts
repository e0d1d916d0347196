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
  const other = scheme.toLowerCase() === 'https' ? 'http' : 'https';
  const bare = authority.replace(/:\d+$/, '');
  const rest = path + query;
  const variants: readonly UrlVariant[] = [
    { url: `${other}://${authority}${rest}`, how: `with ${other} for ${scheme}` },
    { url: `${scheme}://${bare}${rest}`, how: 'without its port' },
    {
      url: `${scheme}://${bare}:${scheme.toLowerCase() === 'https' ? '443' : '80'}${rest}`,
      how: 'with its standard port',
    },
    { url: `${other}://${bare}${rest}`, how: `with ${other} for ${scheme} and without its port` },
    { url: `${scheme}://${authority}${path}`, how: 'without its query' },
    {
      url: `${scheme}://${authority}${path.endsWith('/') ? path.slice(0, -1) : `${path}/`}${query}`,
      how: path.endsWith('/') ? 'without the slash at its end' : 'with a slash at its end',
    },
    ...(host === undefined
      ? []
      : ['https', 'http'].map((each) => ({
          url: `${each}://${host}${rest}`,
          how: `with ${each} and the host of the Host header`,
        }))),
  ];
  return variants.filter((variant) => variant.url !== url);
}
