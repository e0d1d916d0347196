/* Mappings behind the one taken that would have taken the request, too: only the first one acts. */
import { formatPlace } from '../../../base/document/document.ts';
import type { Evaluation } from '../../../engine/hook/hook.ts';
import {
  takesRequest,
  WorkBudget,
  type CompiledMapping,
  type RoutingTable,
} from '../../../engine/mapping/mapping.ts';
import { conjunctTexts, WORK_LIMITS } from '../../../engine/mapping/facts.ts';
import type { HookRequest } from '../../../base/request.ts';
import type { LaterMapping } from './evaluation-advice.ts';

/** Mappings named at most. */
const MAX_NAMED = 10;

/** Finds them in their order. */
export function laterMappings(
  { mapping: first, further }: Evaluation,
  request: HookRequest,
  { mappings }: RoutingTable,
): readonly LaterMapping[] {
  const mapping = further?.at(-1) ?? first;
  if (mapping === undefined) return [];
  const scope = { request, work: new WorkBudget(WORK_LIMITS) };
  const found: LaterMapping[] = [];
  for (const other of mappings.filter(({ order }) => order > mapping.order)) {
    if (found.length === MAX_NAMED) break;
    try {
      if (takesRequest(other, scope)) found.push(laterMapping(mapping, other));
    } catch {
      // A condition that does not end on this body takes nothing.
      break;
    }
  }
  return found;
}

/** How a mapping stands to the one taken, by what their conditions ask for. */
function laterMapping(taken: CompiledMapping, other: CompiledMapping): LaterMapping {
  const [rule, later] = [taken, other].map(({ match: { when } }) => when?.rule);
  const asked = new Set(conjunctTexts(rule));
  const isSource = other.match.source === undefined || other.match.source === taken.match.source;
  const takesAny = isSource && conjunctTexts(later).every((each) => asked.has(each));
  return { id: other.id, at: formatPlace(other.at), takesAny };
}
