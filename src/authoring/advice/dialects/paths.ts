/** Paths that find nothing, whatever is sent, and paths as other tools write them. */
import type { Place } from '../../../base/document/document.ts';
import { quoted, say } from '../../../base/finding.ts';
import { replacing, type Found } from '../rule.ts';
import { quoteName } from '../rule-parts.ts';
import { provider } from '../proof-headers.ts';
import { schemesOfHeader } from '../../../engine/verify/facts.ts';

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
    message: say`brackets are for templates: a condition reads ${quoteName(name)} as the name of a field`,
    hint: say`write ${dotted}`,
    replace: { from: name, to: dotted },
  };
}

function unreadable(keys: readonly string[]): EmptyPath | undefined {
  const [root = '', name] = keys;
  const written = pathOfTool(keys.join('.'));
  if (written !== undefined || name === undefined) return written;
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
    message: say`"headers.${header}" is how ${sender} proves itself, which verify judges, before any condition is asked`,
    hint: say`let verify judge it, and leave this part of the condition out: scheme ${schemesOfHeader(header)[0] ?? ''}, with the secret that the sender has`,
  };
}

/** Words that other tools put before the fields of a body, with the tool. */
const ROOTS_OF_TOOLS: readonly (readonly [RegExp, string])[] = [
  [/^\$\.(?=.)/, 'JSONPath'],
  [/^\.(?=\w)/, 'jq'],
  [/^\$json\.(?:body\.)?/, 'n8n'],
  [/^\$input\.item\.json\.(?:body\.)?/, 'n8n'],
  [/^steps\.trigger\.event\.(?:body\.)?/, 'Pipedream'],
  [/^trigger\.(?:body|event)\./, 'other tools'],
  [/^trigger\.json\./, 'Home Assistant'],
  [/^msg\.payload\./, 'Node-RED'],
  [/^context\.payload\./, 'Probot'],
  [/^github\.event\./, 'GitHub Actions'],
  [/^\$labels\./, 'Prometheus'],
  [/^request\.body\./, 'other tools'],
  [/^req\.body\./, 'other tools'],
];

/** The path as it is here, of one that begins as another tool writes it. */
export function withoutRoot(path: string): string {
  const start = ROOTS_OF_TOOLS.map(([prefix]) => prefix.exec(path)?.[0]).find((found) => found !== undefined);
  return start === undefined || start.length === path.length ? path : path.slice(start.length);
}

/** `alerts[0].status` and `form['name']` with a dot before each step. */
export const withDots = (path: string): string =>
  path.replaceAll(/\.?\[["']?([\w-]+)["']?\]/g, '.$1').replace(/^\.(?=.)/, '');

/** A path as another tool writes it. A body may have a field of that name, so it is a warning. */
function pathOfTool(path: string): EmptyPath | undefined {
  const inside = /^\{\{\s*([\w.$@-]+)\s*\}\}$/.exec(path)?.[1];
  if (inside !== undefined) {
    const message = 'a condition takes the path alone, without {{ }}';
    return {
      ...OF_TOOL,
      message: quoted(message),
      hint: say`write ${inside}`,
      replace: { from: path, to: inside },
    };
  }
  for (const [prefix, tool] of ROOTS_OF_TOOLS) {
    const start = prefix.exec(path)?.[0];
    if (start !== undefined && start.length < path.length) return rootOfTool(path, start, tool);
  }
  return undefined;
}

const OF_TOOL = { code: 'FOREIGN_PATH' } as const;

/** A path that begins as another tool writes it. */
function rootOfTool(path: string, start: string, tool: string): EmptyPath {
  const here = path.slice(start.length);
  // No body has a field called $json, but some have one called request.
  const asField = /^[$.]/.test(start)
    ? ''
    : `, or payload.${path.slice(0, 80)} if the body has a field of that name`;
  return {
    ...OF_TOOL,
    message: say`"${start.length > 2 ? start.replace(/\.$/, '') : start}" is how ${tool} begins a path; here the fields of the body stand at its root`,
    hint: say`write ${here.slice(0, 80)}${asField}`,
    // Where the body may have such a field, only its author can tell.
    ...(asField === '' ? { replace: { from: path, to: here } } : {}),
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
