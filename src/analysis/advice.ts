import { formatPlace } from '../document/document.ts';
import type { Evaluation } from '../hook/hook.ts';
import {
  takesRequest,
  WORK_LIMITS,
  WorkBudget,
  type ConsideredMapping,
  type RoutingTable,
} from '../mapping/mapping.ts';
import { isJsonObject, type JsonValue } from '../json.ts';
import type { HookRequest } from '../request.ts';
import { findNearNames } from './near-names.ts';
import { notesOn } from './request-notes.ts';
import {
  findText,
  hasValue,
  type FoundText,
  suggestElement,
  suggestInLists,
  suggestList,
  suggestPath,
} from './near-paths.ts';

/** What else there is to say about an evaluation, for those who ask why. */
export interface Advice {
  /** Of a hook name that no mapping has: names that may have been meant, with why and where. */
  readonly nearNames: readonly { readonly name: string; readonly why: string; readonly at: string }[];
  /** Variables that were missing, with what the request has instead. */
  readonly instead: ReadonlyMap<string, string>;
  /** Texts that a condition asked for, with where the request has them, or one that is nearly so. */
  readonly foundAt: ReadonlyMap<string, FoundText>;
  /** What kind of request it is, where that explains what became of it. */
  readonly notes: readonly string[];
  /** Mappings behind the one taken that would have taken the request, too. */
  readonly alsoMatched: readonly { readonly id: string; readonly at: string }[];
}

/** Mappings named at most. */
const MAX_NAMED = 10;

/** Looks at a request beside its evaluation: why it missed, and what else would have taken it. */
export function adviceFor(evaluation: Evaluation, request: HookRequest, table: RoutingTable): Advice {
  const { considered, templates } = evaluation.trace;
  const missing = [
    ...considered.flatMap(missingIn),
    ...templates.flatMap(({ empty }) => empty.map(({ expression }) => expression.trim())),
  ];
  const instead = new Map<string, string>();
  for (const name of missing) {
    if (!/^[\w.$[\]-]+$/.test(name)) continue;
    const near = whatIsThere(name, evaluation, request);
    if (near !== undefined && near !== name) instead.set(name, near);
  }
  return {
    notes: notesOn(request, table.settingsOf(request.path)),
    nearNames: table.canTake(request.path) ? [] : nearNames(request, table),
    instead,
    foundAt: foundElsewhere(considered, request),
    alsoMatched: alsoMatched(evaluation, request, table),
  };
}

function whatIsThere(name: string, evaluation: Evaluation, request: HookRequest): string | undefined {
  const { mapping } = evaluation;
  const isEmptyHere = evaluation.trace.templates.some(({ empty }) =>
    empty.some(({ expression }) => expression.trim() === name),
  );
  if (isEmptyHere && hasValue(name, request)) return `../${name}, as it stands outside the block`;
  const list = mapping?.forEach === undefined ? suggestList(name, request) : undefined;
  if (list !== undefined)
    return `${name.slice('item.'.length)} in the elements of ${list}: add forEach: ${list}`;
  const element = mapping?.forEach === undefined ? undefined : elementOf(name, mapping.forEach.keys, request);
  return element ?? suggestPath(name, request) ?? suggestInLists(name, request);
}

function elementOf(name: string, keys: readonly string[], { payload }: HookRequest): string | undefined {
  let value: JsonValue | undefined = payload;
  for (const key of keys) value = isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  const first = Array.isArray(value) ? (value as readonly JsonValue[])[0] : undefined;
  return first === undefined ? undefined : suggestElement(name, first);
}

function missingIn({ failed, nodes = [] }: ConsideredMapping): readonly string[] {
  if (failed?.part !== 'when') return [];
  return [failed.node, ...nodes].flatMap(({ missing }) => (missing === undefined ? [] : [missing]));
}

/** Expected texts that stand at another place of the body, or nearly so. */
function foundElsewhere(considered: readonly ConsideredMapping[], request: HookRequest): Advice['foundAt'] {
  const found = new Map<string, FoundText>();
  for (const { failed } of considered) {
    if (failed?.part !== 'when' || failed.node.result === 'true') continue;
    const { expected, found: was } = failed.node;
    if (typeof expected !== 'string' || expected === was || expected.length < 3) continue;
    const text = findText(expected, request, was);
    if (text !== undefined) found.set(expected, text);
  }
  return found;
}

function nearNames(request: HookRequest, table: RoutingTable): Advice['nearNames'] {
  return findNearNames(request.path, table)
    .slice(0, MAX_NAMED)
    .map(({ name, why, mapping }) => ({ name, why, at: formatPlace(mapping.match.pathAt ?? mapping.at) }));
}

function alsoMatched(
  { mapping }: Evaluation,
  request: HookRequest,
  { mappings }: RoutingTable,
): Advice['alsoMatched'] {
  if (mapping === undefined) return [];
  const scope = { request, work: new WorkBudget(WORK_LIMITS) };
  const found: Advice['alsoMatched'][number][] = [];
  for (const other of mappings.filter(({ order }) => order > mapping.order)) {
    if (found.length === MAX_NAMED) break;
    try {
      if (takesRequest(other, scope)) found.push({ id: other.id, at: formatPlace(other.at) });
    } catch {
      // A condition that does not end on this body takes nothing.
      break;
    }
  }
  return found;
}
