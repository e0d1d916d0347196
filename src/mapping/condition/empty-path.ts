import type { Finding } from '../mapping-codes.ts';

/** Names that carry the hook token: a request never holds them (see the server and golden files). */
const TOKEN_CARRIERS: Readonly<Record<string, readonly string[]>> = {
  headers: ['authorization', 'x-service-token', 'x-openclaw-token'],
  query: ['token'],
};

/** Why a path finds nothing, whatever is sent; undefined where it may find something. */
export function emptyPathFinding(
  keys: readonly string[],
): (Finding & { readonly severity: 'warning' }) | undefined {
  const [root = '', name] = keys;
  if (name === undefined) return undefined;
  const lower = root === 'headers' ? name.toLowerCase() : name;
  if (Object.hasOwn(TOKEN_CARRIERS, root) && TOKEN_CARRIERS[root]?.includes(lower) === true) {
    return {
      severity: 'warning',
      code: 'TOKEN_CARRIER_READ',
      message: `"${root}.${lower}" is always empty: it can carry the hook token, so it is removed before evaluation`,
      hint: `let the sender put the value into another ${root === 'headers' ? 'header' : 'parameter'}`,
    };
  }
  if (root !== 'headers' || name === lower) return undefined;
  return {
    severity: 'warning',
    code: 'HEADER_NAME_CASE',
    message: `header names are in lower case here, found "${name.slice(0, 80)}"`,
    hint: `write headers.${lower.slice(0, 80)}`,
    replace: { from: name, to: lower },
  };
}

/** What reads the element of a `forEach` where there is none. */
export function itemFinding(
  keys: readonly string[],
  where: 'template' | 'condition',
): (Finding & { readonly severity: 'warning' }) | undefined {
  const [root] = keys;
  if (root !== 'item' && root !== 'index') return undefined;
  const name = keys.join('.').slice(0, 80);
  const isTemplate = where === 'template';
  return {
    severity: 'warning',
    code: 'ITEM_WITHOUT_FOR_EACH',
    message: isTemplate
      ? `"${root}" is always empty: the mapping has no forEach`
      : `"${root}" is always empty: a condition chooses the mapping before forEach takes its elements`,
    hint: `${isTemplate ? 'add forEach with the path of a list, or ' : ''}write payload.${name} for the value that has this name in the body`,
  };
}
