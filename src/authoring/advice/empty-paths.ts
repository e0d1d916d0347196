/** Paths that find nothing, whatever is sent. */
import type { Place } from '../../base/document/document.ts';
import { quoted, say } from '../../base/finding.ts';
import { quote } from '../../engine/mapping/facts.ts';
import { schemesOfHeader } from '../../engine/verify/facts.ts';
import { SEE_OTHER_TOOLS } from './other-tools.ts';
import { provider } from './proof-headers.ts';
import { replacing, type Found } from './rule.ts';

/** Names that carry the hook token: a request never holds them (see the server and golden files). */
const TOKEN_CARRIERS: Readonly<Record<string, readonly string[]>> = {
  headers: ['authorization', 'x-service-token', 'x-openclaw-token'],
  query: ['token'],
};

/** Without its place; `replace` is what takes the place of what. */
type EmptyPath = Omit<Found, 'at'> & { readonly replace?: { readonly from: string; readonly to: string } };

/** Why a path finds nothing, whatever is sent; undefined where it may find something. */
export function emptyPath(
  keys: readonly string[],
  at: Place,
  { of, withItem }: { readonly of: 'template' | 'condition'; readonly withItem: boolean },
): Found | undefined {
  const found =
    (of === 'condition' ? inBrackets(keys.join('.')) : undefined) ??
    ofOtherTool(keys.join('.')) ??
    unreadable(keys) ??
    (of === 'condition' ? proof(keys) : undefined) ??
    (withItem ? undefined : item(keys, of));
  if (found === undefined) return undefined;
  const { replace, ...said } = found;
  return replace === undefined ? { ...said, at } : replacing({ ...said, at }, replace.from, replace.to);
}

/** `alerts[0].status` and `form['First Name']`, as templates write them. */
function inBrackets(name: string): EmptyPath | undefined {
  const dotted = name.replaceAll(/\.?\[(?:(\d+)|["']([^"'.[\]]+)["'])\]/g, '.$1$2').replace(/^\./, '');
  if (!name.includes('[') || /[[\]]/.test(dotted)) return undefined;
  return {
    code: 'FOREIGN_PATH',
    message: say`brackets are for templates: a condition reads ${quote(name)} as the name of a field`,
    hint: say`write ${dotted}`,
    replace: { from: name, to: dotted },
  };
}

/** `$json.title`, `$.title`, `.title`, `{{title}}`: no body has fields of such names. */
function ofOtherTool(path: string): EmptyPath | undefined {
  if (!/^(?:\$[\w.]|\.\w|\{\{)/.test(path)) return undefined;
  return {
    code: 'FOREIGN_PATH',
    message: say`${quote(path)} is a path of another tool; here the fields of the body stand at its root`,
    hint: SEE_OTHER_TOOLS,
  };
}

function unreadable([root = '', name]: readonly string[]): EmptyPath | undefined {
  if (name === undefined) return undefined;
  const lower = root === 'headers' ? name.toLowerCase() : name;
  if (Object.hasOwn(TOKEN_CARRIERS, root) && TOKEN_CARRIERS[root]?.includes(lower) === true)
    return tokenCarrier(root, lower);
  if (root !== 'headers' || name === lower) return undefined;
  return {
    code: 'HEADER_NAME_CASE',
    message: say`header names are in lower case here, found "${name.slice(0, 80)}"`,
    hint: say`write headers.${lower.slice(0, 80)}`,
    replace: { from: name, to: lower },
  };
}

function tokenCarrier(root: string, name: string): EmptyPath {
  return {
    code: 'TOKEN_CARRIER_READ',
    isOfSafety: true,
    message: say`"${root}.${name}" is always empty: it can carry the hook token, so it is removed before evaluation`,
    hint: say`let the sender put the value into another ${root === 'headers' ? 'header' : 'parameter'}`,
  };
}

/** A condition on the header by which a known sender proves itself. */
function proof([root, header = '']: readonly string[]): EmptyPath | undefined {
  const sender = root === 'headers' ? provider(header) : undefined;
  if (sender === undefined) return undefined;
  return {
    code: 'TOKEN_CARRIER_READ',
    isOfSafety: true,
    message: say`"headers.${header}" is how ${sender} proves itself, which verify judges, before any condition is asked`,
    hint: say`let verify judge it, and leave this part of the condition out: scheme ${schemesOfHeader(header)[0] ?? ''}, with the secret that the sender has`,
  };
}

/** What reads the element of a `forEach` where there is none. */
function item(keys: readonly string[], where: 'template' | 'condition'): EmptyPath | undefined {
  const [root] = keys;
  if (root !== 'item' && root !== 'index') return undefined;
  const name = keys.join('.').slice(0, 80);
  const isTemplate = where === 'template';
  return {
    code: 'ITEM_WITHOUT_FOR_EACH',
    message: quoted(
      isTemplate
        ? `"${root}" is always empty: the mapping has no forEach`
        : `"${root}" is always empty: a condition chooses the mapping before forEach takes its elements`,
    ),
    hint: say`${isTemplate ? 'add forEach with the path of a list, or ' : ''}write payload.${name} for the value that has this name in the body`,
    ...(isTemplate ? {} : { replace: { from: keys.join('.'), to: `payload.${keys.join('.')}` } }),
  };
}
