/* What `explain` would say of samples, before they are sent: of what templates read in vain, and of a condition that fails. */
import type { Evaluation } from '../../../engine/hook/hook.ts';
import type { JsonValue } from '../../../base/json.ts';
import { compileReader } from '../../../engine/mapping/facts.ts';
import type {
  CompiledMapping,
  ConditionTrace,
  ConsideredMapping,
  RoutingTable,
} from '../../../engine/mapping/mapping.ts';
import type { HookRequest } from '../../../base/request.ts';
import { consideredNotes } from '../requests/considered-notes.ts';
import type { EvaluationAdvice } from '../requests/evaluation-advice.ts';
import { tellsWhatToWrite, type EvaluationNote } from '../requests/evaluation-note.ts';
import { adviceFor } from '../requests/request-advice.ts';
import type { Sample } from './sampled-mapping.ts';
import { isSlipOfValue } from './slips.ts';
import type { CountedRead } from './template-reads.ts';

/** Samples that are asked what may have been meant. */
const MAX_ASKED = 20;

const NOTHING = { outcome: { kind: 'accepted', actions: [] }, warnings: [] } as const;

/** What a mapping reads in vain in samples that it takes: for each of them what they have instead. */
export function adviseOnReads(
  { mapping, table }: { readonly mapping: CompiledMapping; readonly table: RoutingTable },
  reads: readonly (CountedRead & { readonly field: string })[],
): readonly EvaluationAdvice[] {
  const samples = [...new Set(reads.flatMap(({ absent }) => absent.map(({ sample }) => sample)))];
  return samples.slice(0, MAX_ASKED).map(({ request }) => {
    const own = reads.filter(({ absent }) => absent.some(({ sample }) => sample.request === request));
    const templates = own.map((read) => ({
      field: read.field,
      at: read.at,
      empty: [{ expression: writtenPath(read), at: read.at, ...aroundOf(read, request) }],
      branches: [],
    }));
    const evaluation: Evaluation = {
      ...NOTHING,
      mapping,
      trace: { considered: [], templates, transforms: [] },
    };
    return adviceFor(evaluation, request, table);
  });
}

/** The path as it is written: in a block it begins at what the block reads. */
export const writtenPath = ({ inBlock, path, expression = '' }: CountedRead): string =>
  inBlock && path.endsWith(`.${expression}`) ? expression : path;

/** What the block around it reads. */
function aroundOf(read: CountedRead, request: HookRequest): { readonly around?: readonly JsonValue[] } {
  const written = writtenPath(read);
  if (written === read.path) return {};
  const value = compileReader(read.path.slice(0, -written.length - 1).split('.'))({ request });
  return value === undefined ? {} : { around: [value] };
}

/** A sample that a mapping misses by one part of its condition. */
export interface NearMiss {
  readonly sample: Sample;
  readonly considered: ConsideredMapping;
  /** What to write, as it would be told of the request; the surest first. */
  readonly notes: readonly EvaluationNote[];
}

/** Samples that a mapping misses by one part of its condition alone, or by names that they have in other places. */
export function nearMisses(
  mapping: CompiledMapping,
  samples: readonly Sample[],
  table: RoutingTable,
): readonly NearMiss[] {
  return samples
    .flatMap((sample) => {
      const considered = consideredOf(mapping, sample, table);
      return considered?.failed?.part === 'when' && isNear(considered) ? [{ sample, considered }] : [];
    })
    .map(({ sample, considered }, index) => ({
      sample,
      considered,
      notes: index < MAX_ASKED ? notesOn(considered, sample, table) : [],
    }))
    .filter(({ considered, notes }) => considered.failing === 1 || notes.length > 0 || isSlipped(considered));
}

const isNear = ({ failing, parts = [] }: ConsideredMapping): boolean =>
  failing === 1 || (parts.length === failing && parts.every(isMeant));

/** A name that is not there, or a value that is nearly the one that is. */
const isMeant = ({ missing, expected, found }: ConditionTrace): boolean =>
  missing !== undefined ||
  (typeof expected === 'string' && typeof found === 'string' && isSlipOfValue(expected, found));

const isSlipped = ({ failed }: ConsideredMapping): boolean =>
  failed?.part === 'when' && failed.node.missing === undefined && isMeant(failed.node);

function consideredOf(
  mapping: CompiledMapping,
  { request }: Sample,
  table: RoutingTable,
): ConsideredMapping | undefined {
  try {
    return [...table.explain({ request })].find((each) => each.mapping === mapping);
  } catch {
    // A sample that costs too much to judge.
    return undefined;
  }
}

function notesOn(
  considered: ConsideredMapping,
  { request }: Sample,
  table: RoutingTable,
): readonly EvaluationNote[] {
  const trace = { considered: [considered], templates: [], transforms: [] };
  const advice = adviceFor({ ...NOTHING, trace }, request, table);
  return consideredNotes([considered], advice).filter(({ code }) => tellsWhatToWrite(code));
}
