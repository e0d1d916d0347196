import type { JsonValue } from '../../../base/json.ts';
import {
  canonicalPath,
  compileReader,
  isListOperator,
  nameOfVariable,
  namesRead,
  operationOf,
} from '../../../engine/mapping/facts.ts';
import {
  type CompiledMapping,
  listOf,
  type RoutingTable,
  type Scope,
} from '../../../engine/mapping/mapping.ts';
import type { Subject } from '../../../base/finding.ts';
import { holdsUnkept, type HookRequest } from '../../../base/request.ts';
import { findKind } from '../requests/request-notes.ts';

export interface Sample {
  readonly request: HookRequest;
  /** Expressions that print nothing, as the expectation of the sample says. */
  readonly knownEmpty?: ReadonlySet<string>;
}

export interface SampledMapping extends Subject {
  readonly kind: 'sampled-mapping';
  readonly mapping: CompiledMapping;
  readonly table: RoutingTable;
  /** The samples that the mapping matches, which are therefore of its kinds. */
  readonly taken: readonly Sample[];
  readonly ofPath: readonly Sample[];
  /** What the templates read, for each matching sample, or for each element of its list. */
  readonly scopes: readonly SampledScope[];
  /** Names samples, such as `samples of issues`: by the fields that tell kinds apart, else by the hook name. */
  readonly named: (samples: readonly Sample[]) => string;
}

export interface SampledScope {
  readonly scope: Scope;
  readonly sample: Sample;
}

const MAX_ELEMENTS = 20;

export function sampledMappings(
  table: RoutingTable,
  all: readonly Sample[],
  isAsked: (mapping: CompiledMapping) => boolean = () => true,
): readonly SampledMapping[] {
  const asked = table.mappings.filter(isAsked);
  const paths = new Set(asked.map(({ match }) => match.path));
  const own = all.filter(({ request }) => paths.has(undefined) || paths.has(request.path));
  const samples = own.filter(({ request }) => isEvent(request));
  const takers = new Map(samples.map((sample) => [sample, takersOf(table, sample)]));
  return asked.map((mapping): SampledMapping => {
    const { path } = mapping.match;
    const fields = kindFields(table, path);
    // The mapping and the kind of a sample are only known where the values that decide were stored.
    const deciding = [
      ...fields,
      ...namesRead(mapping.match.when?.rule ?? null).map((name) => name.split('.')),
    ];
    const ofPath = samples
      .filter(({ request }) => path === undefined || request.path === path)
      .filter((sample) => !deciding.some((keys) => holdsUnkept(valueIn(sample, keys))));
    const taken = ofPath.filter((sample) => takers.get(sample)?.includes(mapping));
    return {
      kind: 'sampled-mapping',
      mapping,
      table,
      taken,
      ofPath,
      scopes: taken.flatMap((sample) => scopesOf(mapping, sample)),
      named: (some) => nameOf(some, fields, path),
    };
  });
}

/** A request that a challenge answers is no event. */
const isEvent = (request: HookRequest): boolean => findKind(request, {}) === undefined;

/** A sample that costs too much to judge matches no mapping. */
function takersOf(table: RoutingTable, { request }: Sample): readonly CompiledMapping[] {
  try {
    return table.takers({ request });
  } catch {
    return [];
  }
}

function scopesOf(mapping: CompiledMapping, sample: Sample): readonly SampledScope[] {
  const { request } = sample;
  const { forEach, behaviours } = mapping;
  if (forEach === undefined || behaviours.hasGatewayBatches) return [{ scope: { request }, sample }];
  const list = compileReader(['payload', ...forEach.keys])({ request });
  const elements = (listOf({ request }, list) ?? []).slice(0, MAX_ELEMENTS);
  return elements.map((item, index) => ({ scope: { request, item, index }, sample }));
}

export interface SampleKind {
  /** The values in the fields that tell kinds apart, such as `issues opened`; empty where there are none. */
  readonly name: string;
  readonly samples: readonly Sample[];
  readonly fields: readonly (readonly string[])[];
}

/** A field with more texts names things, and no kinds. */
const MAX_KINDS = 20;

/** Groups samples of a hook name by their kind, as its mappings tell kinds apart. */
export function kindsOfPath(
  table: RoutingTable,
  path: string,
  all: readonly Sample[],
): readonly SampleKind[] {
  const samples = all.filter(({ request }) => request.path === path && isEvent(request));
  const fields = kindFields(table, path).filter(
    (keys) => new Set(samples.map((sample) => valueIn(sample, keys))).size <= MAX_KINDS,
  );
  const kinds = Map.groupBy(samples, (sample) => {
    const texts = fields.flatMap((keys): readonly string[] => {
      const value = valueIn(sample, keys);
      return typeof value === 'string' && value.length <= MAX_NAME ? [value] : [];
    });
    return texts.join(' ');
  });
  return [...kinds].map(([name, own]) => ({ name, samples: own, fields }));
}

function kindFields({ mappings }: RoutingTable, path: string | undefined): readonly (readonly string[])[] {
  const fields = mappings
    .filter(({ match }) => match.path === path)
    .flatMap(({ match }) => (match.when === undefined ? [] : comparedIn(match.when.rule)))
    .map(({ name }) => name.split('.'));
  return [...new Map(fields.map((keys) => [canonicalPath(keys), keys])).values()];
}

const valueIn = ({ request }: Sample, keys: readonly string[]): JsonValue | undefined =>
  compileReader(keys)({ request });

function nameOf(
  samples: readonly Sample[],
  fields: readonly (readonly string[])[],
  path: string | undefined,
): string {
  const [first] = samples;
  const common = fields.flatMap((keys) => {
    const value = first && valueIn(first, keys);
    const isShared = samples.every((sample) => valueIn(sample, keys) === value);
    return typeof value === 'string' && value.length <= MAX_NAME && isShared ? [value] : [];
  });
  const kind = common.length > 0 ? common.join(' ') : path;
  const noun = samples.length === 1 ? 'sample' : 'samples';
  return kind === undefined ? noun : `${noun} of ${kind}`;
}

const MAX_NAME = 60;

export interface ComparedVariable {
  readonly name: string;
  readonly values: readonly string[];
}

/**
 * Returns what a condition tells kinds of events apart by: variables that are equal to a text, or in a list of texts.
 */
export function comparedIn(rule: JsonValue): readonly ComparedVariable[] {
  if (Array.isArray(rule)) return (rule as readonly JsonValue[]).flatMap(comparedIn);
  const { operator, operands } = operationOf(rule) ?? { operator: '', operands: [] };
  if (isListOperator(operator)) return [];
  const name = operands.map(nameOfVariable).find(Boolean);
  const values = operands.flat().filter((each) => typeof each === 'string');
  const isComparison = /^(?:[!=]==?|in)$/.test(operator) && operands.length === 2;
  return isComparison && name !== undefined ? [{ name, values }] : comparedIn(operands);
}
