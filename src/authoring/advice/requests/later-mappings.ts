/** Finds mappings behind the first match that would have matched the request, too. Only the first one acts. */
import { formatPlace } from '../../../base/document/document.ts';
import type { Evaluation } from '../../../engine/hook/hook.ts';
import { takesRequest, WorkBudget, type RoutingTable } from '../../../engine/mapping/mapping.ts';
import { WORK_LIMITS } from '../../../engine/mapping/facts.ts';
import type { HookRequest } from '../../../base/request.ts';
import type { LaterMapping } from './evaluation-advice.ts';

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
      if (takesRequest(other, scope)) found.push({ id: other.id, at: formatPlace(other.at) });
    } catch {
      // A condition that does not end on this body matches nothing.
      break;
    }
  }
  return found;
}
