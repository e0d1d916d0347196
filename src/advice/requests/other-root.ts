/*
 * Paths of a mapping that begin where the body does not: with a wrapper of another tool, or without one of the sender.
 * All places of the mapping that was nearest to the request are told at once, each with its new text, as a condition
 * that is mended alone gives a run with empty texts.
 */
import { formatPlace, shorten, type Place } from '../../document/document.ts';
import { nearestMisses } from './considered-notes.ts';
import { type AdviceNote } from './evaluation-advice.ts';
import { isJsonObject, type JsonValue } from '../../json.ts';
import { compileReader, type CompiledMapping, type ConsideredMapping } from '../../mapping/mapping.ts';
import { announcedFormat } from '../../payload/payload.ts';
import type { HookRequest } from '../../request.ts';
import type { Instead } from './instead.ts';

/** Where paths begin as they are written, and where they should. */
interface Roots {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** Names by which other tools reach the body. */
const FOREIGN_ROOTS = new Set([
  'body',
  '$json',
  'json',
  'req',
  'request',
  '$input',
  'trigger',
  'steps',
  'msg',
  'payload',
]);

/** What all paths have in common that found nothing; empty where there is no such thing. */
export function otherRootNotes(
  considered: readonly ConsideredMapping[],
  request: HookRequest,
  instead: Instead,
): readonly AdviceNote[] {
  for (const [missing, { names }] of instead) {
    const roots = names.length === 1 ? rootsOf(missing, names[0] ?? '') : undefined;
    const why = roots && whyOf(roots, request);
    if (roots === undefined || why === undefined) continue;
    const [nearest] = nearestMisses(considered, instead);
    const isMiss = !considered.some(({ matched }) => matched);
    const changes = nearest === undefined || !isMiss ? [] : changesOf(nearest, roots, request);
    const [first, ...more] = changes;
    if (more.length === 0 || first === undefined)
      return [{ code: 'own_payload', text: why, names: roots.to }];
    const text = `${why}; in all ${String(changes.length)} places of ${nearest?.mapping.id ?? ''} write`;
    return [{ code: 'other_root', text: [text, ...changes].join('\n'), names: roots.to }];
  }
  return [];
}

/** What two paths begin with, up to the names that they end in alike. */
function rootsOf(missing: string, near: string): Roots | undefined {
  const [a, b] = [missing.split('.'), near.split('.')];
  // Both begin at the body: the root is no name in which they end alike.
  const most = Math.min(a.length, b.length) - (a[0] === 'payload' && b[0] === 'payload' ? 1 : 0);
  let same = 0;
  while (same < most && a.at(-1 - same) === b.at(-1 - same)) same += 1;
  return same === 0 ? undefined : { from: a.slice(0, a.length - same), to: b.slice(0, b.length - same) };
}

/** Why paths that begin so find nothing; undefined where that may be another mistake. */
function whyOf({ from, to }: Roots, { payload, headers }: HookRequest): string | undefined {
  if (to.join('.') === 'payload.payload')
    return 'payload is the whole body here, and this body has a field of that name: its fields are payload.payload.…';
  const [root = ''] = from[0] === 'payload' ? from.slice(1) : from;
  const isField = isJsonObject(payload) && Object.hasOwn(payload, root);
  if (!FOREIGN_ROOTS.has(root) || isField || to.length > (from[0] === 'payload' ? 1 : 0)) return undefined;
  if (root !== 'payload')
    return `the body has no field ${root}: payload is the body itself, and its fields are read by their names alone`;
  return announcedFormat(headers['content-type']) === 'form'
    ? 'the form field payload is taken out here: its JSON is the body, which payload stands for, so payload.payload finds nothing'
    : 'the body has no field payload: payload is the body itself, so payload.payload finds nothing';
}

/** Each key of a mapping that reads such a path, with its place and what it is to say. */
function changesOf(
  { mapping, nodes = [] }: ConsideredMapping,
  roots: Roots,
  request: HookRequest,
): readonly string[] {
  const rewrite = (path: string): string => rewritten(path, roots, request);
  const rule = nodes[0]?.rule;
  const when = rule === undefined ? [] : [changeOfRule(rule, rewrite, mapping.match.when?.at)];
  const texts = templatesOf(mapping).map(([key, source, at]) => changeOfText({ key, source, at }, rewrite));
  return [...when, ...texts].flatMap((change) => change ?? []);
}

type Rewrite = (path: string) => string;

/** The path from the other root, where it is there that it finds something. */
function rewritten(path: string, { from, to }: Roots, request: HookRequest): string {
  const keys = path.split('.');
  const isBelow = keys.length > from.length && from.every((key, at) => key === keys[at]);
  if (!isBelow || finds(keys, request)) return path;
  const meant = [...to, ...keys.slice(from.length)];
  return finds(meant, request) ? meant.join('.') : path;
}

function finds(keys: readonly string[], request: HookRequest): boolean {
  const plain = keys.map((key) => key.replace(/^\[(.*)\]$/, '$1'));
  return compileReader(plain)({ request }) !== undefined;
}

/** Longer texts are not repeated whole. */
const MAX_CHARS = 300;

function changeOfRule(rule: JsonValue, rewrite: Rewrite, at: Place | undefined): string | undefined {
  const text = JSON.stringify(ruleWith(rule, rewrite));
  if (text === JSON.stringify(rule) || at === undefined) return undefined;
  return `when: ${shorten(text, MAX_CHARS)}  ${formatPlace(at)}`;
}

function ruleWith(rule: JsonValue, rewrite: Rewrite): JsonValue {
  if (Array.isArray(rule)) return (rule as readonly JsonValue[]).map((each) => ruleWith(each, rewrite));
  if (!isJsonObject(rule)) return rule;
  return Object.fromEntries(
    Object.entries(rule).map(([operator, operands]) => [
      operator,
      operator === 'var' ? variableWith(operands, rewrite) : ruleWith(operands, rewrite),
    ]),
  );
}

function variableWith(operands: JsonValue, rewrite: Rewrite): JsonValue {
  if (typeof operands === 'string') return rewrite(operands);
  if (!Array.isArray(operands)) return operands;
  const [name, ...rest] = operands as readonly JsonValue[];
  return typeof name === 'string' ? [rewrite(name), ...rest] : operands;
}

type Written = readonly [key: string, source: string, at: Place];

/** Its templates and paths, as the mapping names and writes them. */
const templatesOf = ({ forEach, templates }: CompiledMapping): readonly Written[] => [
  ...(forEach === undefined ? [] : [['forEach', forEach.text, forEach.at] as const]),
  ...[...templates].map(([key, { source, at }]) => [key, source, at] as const),
];

/** A path in an expression: not the end of a block, and not within a text. */
const PATH = /(?<![\w.$@"'/[\]-])[A-Za-z_$][\w$-]*(?:\.(?:[\w$-]+|\[[^\]]*\]))*/g;

function changeOfText(
  { key, source, at }: { readonly key: string; readonly source: string; readonly at: Place },
  rewrite: Rewrite,
): string | undefined {
  const changed = new Map<string, string>();
  const rewriteAll = (text: string): string =>
    text.replaceAll(PATH, (path) => {
      const meant = rewrite(path);
      if (meant !== path) changed.set(path, meant);
      return meant;
    });
  const text = key === 'forEach' ? rewriteAll(source) : source.replaceAll(/\{\{[^{}]*\}\}/g, rewriteAll);
  if (changed.size === 0) return undefined;
  const isShort = !text.includes('\n') && text.length <= MAX_CHARS;
  const quoted = text.includes("'") ? JSON.stringify(text) : `'${text}'`;
  const pairs = [...changed].map(([path, meant]) => `{{${meant}}} in place of {{${path}}}`);
  return `${key}: ${isShort ? quoted : pairs.join(', ')}  ${formatPlace(at)}`;
}
