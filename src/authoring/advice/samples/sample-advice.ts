/* What `explain` says of a sample, before it is sent: of what templates read in vain, and of a condition that it misses. */
import type { Sentence } from '../../../base/finding.ts';
import type { HookRequest } from '../../../base/request.ts';
import type { Evaluation } from '../../../engine/hook/hook.ts';
import type { ConditionTrace, ConsideredMapping, RenderTrace } from '../../../engine/mapping/mapping.ts';
import { consideredFindings } from '../requests/considered-findings.ts';
import type { EvaluationAdvice } from '../requests/evaluation-advice.ts';
import { tellsWhatToWrite } from '../requests/findings.ts';
import { adviceFor } from '../requests/request-advice.ts';
import type { SampledMapping, SampledScope } from './sampled-mapping.ts';

/** Samples that are asked. */
const MAX_ASKED = 20;

const NOTHING = { outcome: { kind: 'accepted', actions: [] }, warnings: [] } as const;

/** Of a sample that the mapping takes: what it has in place of what templates read in vain. */
export function adviceOnReads({ mapping, table }: SampledMapping, { scope }: SampledScope): EvaluationAdvice {
  const templates = [...mapping.templates].map(([field, template]) => {
    const trace: RenderTrace = { empty: [], branches: [] };
    try {
      template.render(scope, trace);
    } catch {
      // A sample that costs too much to render says nothing.
    }
    return { field, at: template.at, ...trace };
  });
  const trace = { considered: [], templates, transforms: [] };
  return adviceFor({ ...NOTHING, mapping, trace } satisfies Evaluation, scope.request, table);
}

/** The part of a condition that samples miss, and what is to be written. */
export interface MissedPart {
  readonly node: ConditionTrace;
  readonly text: Sentence;
}

/** Of samples that a mapping misses by one part, or by names alone that are not there, where one shows what was meant. */
export function adviceOnMiss({ mapping, table, ofPath }: SampledMapping): MissedPart | undefined {
  const misses = ofPath.slice(0, MAX_ASKED).map(({ request }) => {
    const considered = consideredOf({ mapping, table }, request);
    return considered && isNear(considered) ? { considered, request } : undefined;
  });
  if (misses.length === 0 || misses.includes(undefined)) return undefined;
  for (const each of misses) {
    if (each === undefined || each.considered.failed?.part !== 'when') continue;
    const { considered, request } = each;
    const trace = { considered: [considered], templates: [], transforms: [] };
    const advice = adviceFor({ ...NOTHING, trace }, request, table);
    const found = consideredFindings([considered], advice).find(tellsWhatToWrite);
    if (found !== undefined) return { node: each.considered.failed.node, text: found.message };
  }
  return undefined;
}

const isNear = ({ failed, failing, parts = [] }: ConsideredMapping): boolean =>
  failed?.part === 'when' &&
  (failing === 1 || (parts.length === failing && parts.every(({ missing }) => missing !== undefined)));

function consideredOf(
  { mapping, table }: Pick<SampledMapping, 'mapping' | 'table'>,
  request: HookRequest,
): ConsideredMapping | undefined {
  try {
    return [...table.explain({ request })].find((each) => each.mapping === mapping);
  } catch {
    // A sample that costs too much to judge.
    return undefined;
  }
}
