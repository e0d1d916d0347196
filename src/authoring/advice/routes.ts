/** Lists the mappings of each hook name in the order of requests, with what can be proved of them. */
import { formatPlace } from '../../base/document/document.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';
import { defined, valueAt, type JsonValue } from '../../base/json.ts';
import { WORK_LIMITS } from '../../engine/mapping/facts.ts';
import {
  takesRequest,
  WorkBudget,
  type CompiledMapping,
  type RoutingTable,
  type Scope,
} from '../../engine/mapping/mapping.ts';
import type { HookRequest } from '../../base/request.ts';
import { SECRET_KEY } from '../../base/telemetry/telemetry.ts';
import { areApart, asksNoMore, type MappingDemands, askedOf, shownField } from './routes/asked.ts';
import { conditionWords } from './routes/condition-words.ts';
import { readsSecret } from './rules/conditions.ts';
import { findWitness } from './routes/witness.ts';

export { findWitness };

export interface Route {
  readonly id: string;
  /** `mappings/github.yaml:3:5`. */
  readonly at: string;
  readonly action: 'wake' | 'agent' | 'notify' | 'skip';
  readonly source?: string;
  /** The condition in words; absent where there is none. */
  readonly condition?: string;
  /** The condition itself; absent, too, where it reads what may be a secret. */
  readonly when?: JsonValue;
  /** The mapping before it that takes all that it could take. */
  readonly shadowedBy?: string;
  /** The mapping is turned off, and matches nothing. */
  readonly disabled?: true;
  /** The mappings after this one are asked as well. */
  readonly continue?: true;
}

export interface ShownRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: JsonValue;
}

/** Both mappings match the same request, and neither asks for less than the other. The first one gets it. */
export interface Overlap {
  readonly first: string;
  readonly second: string;
  /** The golden case that matches both; absent where the request was made up. */
  readonly case?: string;
  readonly request: ShownRequest;
  /** The mapping that matched the request. */
  readonly taken: string;
}

/** A kind of event that no mapping matches. */
export interface Untaken {
  /** The fields that conditions of the hook name compare, with the texts of this kind: `headers.x-github-event`. */
  readonly kind: Readonly<Record<string, string>>;
  /** Golden cases of this kind. */
  readonly cases: readonly string[];
}

export interface HookRoutes {
  /** Absent for any name that no mapping names. */
  readonly name?: string;
  /** In the order in which they are tried. */
  readonly mappings: readonly Route[];
  readonly overlaps: readonly Overlap[];
  /** Pairs for which neither a proof that they are apart nor a request that matches both was found. */
  readonly notDecided: readonly (readonly [string, string])[];
  /** Texts that a field must have: a request with any other text matches nothing. */
  readonly only: Readonly<Record<string, readonly string[]>>;
  readonly untaken: readonly Untaken[];
  /** What becomes of a request that matches none of them. */
  readonly otherwise: 'reject' | 'skip';
}

export interface NamedRequest {
  readonly name: string;
  readonly request: HookRequest;
}

export interface RoutesOptions {
  /** Golden cases and the like. */
  readonly samples: readonly NamedRequest[];
  /** The value of `hooks.unmatched`. */
  readonly unmatched: 'reject' | 'skip';
  evaluate(request: HookRequest): Evaluation | Promise<Evaluation>;
}

const MAX_PAIRS = 200;

export async function describeRoutes(
  table: RoutingTable,
  options: RoutesOptions,
): Promise<readonly HookRoutes[]> {
  const names = [...table.paths].toSorted();
  const takesAny = table.mappings.some(({ match }) => match.path === undefined);
  return Promise.all(
    [...names, ...(takesAny ? [undefined] : [])].map((name) => describeHook(table, name, options)),
  );
}

interface MappingWithDemands {
  readonly mapping: CompiledMapping;
  readonly asked: MappingDemands;
}

async function describeHook(
  table: RoutingTable,
  name: string | undefined,
  options: RoutesOptions,
): Promise<HookRoutes> {
  const isOwned = name !== undefined && table.isOwned(name);
  const isHere = ({ match: { path } }: CompiledMapping): boolean =>
    path === name || (path === undefined && !isOwned);
  const asking = table.mappings.filter(isHere).map((mapping) => ({ mapping, asked: askedOf(mapping) }));
  const shadows = new Map(asking.map((one, index) => [one, shadowOf(one, asking.slice(0, index))]));
  const reached = asking.filter((one) => shadows.get(one) === undefined);
  const samples = options.samples.filter(({ request: { path } }) =>
    name === undefined ? !table.paths.has(path) : path === name,
  );
  const here = { table, path: name ?? freeName(table), samples, evaluate: options.evaluate };
  return {
    ...(name === undefined ? {} : { name }),
    mappings: [
      ...asking.map((one) => ({
        ...routeOf(one.mapping),
        ...(shadows.get(one) && { shadowedBy: shadows.get(one)?.mapping.id ?? '' }),
      })),
      ...table.disabled.filter(isHere).map((each) => ({ ...routeOf(each), disabled: true as const })),
    ],
    ...(await findOverlaps(reached, here)),
    only: onlyTexts(reached),
    untaken: findUntaken(reached, here),
    otherwise: (name === undefined ? undefined : table.settingsOf(name).otherwise) ?? options.unmatched,
  };
}

function freeName({ paths }: RoutingTable): string {
  let name = 'any-name';
  while (paths.has(name)) name += '-';
  return name;
}

const shadowOf = (
  one: MappingWithDemands,
  before: readonly MappingWithDemands[],
): MappingWithDemands | undefined =>
  before.find((other) => other.mapping.continues !== true && asksNoMore(other.asked, one.asked));

function routeOf({ id, at, action, match: { source, when }, continues }: CompiledMapping): Route {
  return {
    id,
    at: formatPlace(at),
    action,
    ...defined({
      source,
      condition: when && conditionWords(when.rule),
      when: when === undefined || readsSecret(when.rule) ? undefined : when.rule,
      continue: continues === true ? (true as const) : undefined,
    }),
  };
}

interface Here {
  readonly table: RoutingTable;
  readonly path: string;
  readonly samples: readonly NamedRequest[];
  evaluate(request: HookRequest): Evaluation | Promise<Evaluation>;
}

/** A condition that does not end on this request matches nothing. */
function takes({ mapping }: MappingWithDemands, request: HookRequest): boolean {
  const scope: Scope = { request, work: new WorkBudget(WORK_LIMITS) };
  try {
    return takesRequest(mapping, scope);
  } catch {
    return false;
  }
}

async function findOverlaps(
  asking: readonly MappingWithDemands[],
  here: Here,
): Promise<Pick<HookRoutes, 'overlaps' | 'notDecided'>> {
  const overlaps: Overlap[] = [];
  const notDecided: [string, string][] = [];
  const pairs = asking.flatMap((first, index) =>
    (first.mapping.continues === true ? [] : asking)
      .slice(index + 1)
      .filter(({ asked }) => !areApart(first.asked, asked) && !asksNoMore(asked, first.asked))
      .map((second) => [first, second] as const),
  );
  for (const [index, [first, second]] of pairs.entries()) {
    const found = index < MAX_PAIRS ? findBoth(first, second, here) : undefined;
    const taken = found === undefined ? undefined : (await here.evaluate(found.request)).mapping?.id;
    const ids = { first: first.mapping.id, second: second.mapping.id };
    if (found === undefined || taken === undefined) notDecided.push([ids.first, ids.second]);
    else {
      const named = found.name === undefined ? {} : { case: found.name };
      overlaps.push({ ...ids, ...named, request: shownRequest(found.request), taken });
    }
  }
  return { overlaps, notDecided };
}

function shownRequest({ path, headers, query, payload: body }: HookRequest): ShownRequest {
  const hide = (key: string, value: unknown): unknown => (SECRET_KEY.test(key) ? '…' : value);
  return JSON.parse(JSON.stringify({ path, headers, query, body }, hide)) as ShownRequest;
}

/** Prefers a known request to one that is made of what the conditions compare. */
function findBoth(
  first: MappingWithDemands,
  second: MappingWithDemands,
  { samples, path }: Here,
): { readonly name?: string; readonly request: HookRequest } | undefined {
  const isBoth = (request: HookRequest): boolean => takes(first, request) && takes(second, request);
  const known = samples.find(({ request }) => isBoth(request));
  if (known !== undefined) return known;
  const both = [first.asked, second.asked];
  const request = findWitness({
    path,
    rules: both.flatMap(({ rules }) => rules),
    narrowed: both.map(({ narrowed }) => narrowed),
    holds: isBoth,
  });
  return request && { request };
}

const keysOf = (field: string): readonly string[] => JSON.parse(field) as readonly string[];

function onlyTexts(asking: readonly MappingWithDemands[]): HookRoutes['only'] {
  const [first, ...others] = asking.map(({ asked }) => asked.narrowed);
  const fields = [...(first?.keys() ?? [])].filter((field) => others.every((each) => each.has(field)));
  return Object.fromEntries(
    fields.map((field) => [
      shownField(keysOf(field)),
      [...new Set(asking.flatMap(({ asked }) => [...(asked.narrowed.get(field) ?? [])]))].toSorted(),
    ]),
  );
}

function findUntaken(asking: readonly MappingWithDemands[], { table, samples }: Here): readonly Untaken[] {
  const fields = [...new Set(asking.flatMap(({ asked }) => [...asked.narrowed.keys()]))];
  const kinds = new Map<string, Untaken>();
  for (const { name, request } of samples) {
    if (table.route({ request, work: new WorkBudget(WORK_LIMITS) }) !== undefined) continue;
    const kind = Object.fromEntries(
      fields.flatMap((field) => {
        const value = valueAt(request as unknown as JsonValue, keysOf(field));
        return typeof value === 'string' ? [[shownField(keysOf(field)), value] as const] : [];
      }),
    );
    const key = JSON.stringify(kind);
    kinds.set(key, { kind, cases: [...(kinds.get(key)?.cases ?? []), name] });
  }
  return [...kinds.values()];
}
