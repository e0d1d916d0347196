import type { Finding } from './mapping-codes.ts';

/** A path to a header that is not written in lower case finds nothing, whatever was sent. */
export function headerNameFinding(
  keys: readonly string[],
): (Finding & { readonly severity: 'warning' }) | undefined {
  const [root, name] = keys;
  if (root !== 'headers' || name === undefined || name === name.toLowerCase()) return undefined;
  return {
    severity: 'warning',
    code: 'HEADER_NAME_CASE',
    message: `header names are in lower case here, found "${name.slice(0, 80)}"`,
    hint: `write headers.${name.toLowerCase().slice(0, 80)}`,
  };
}
