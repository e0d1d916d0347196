/* A mapping without a path, which takes what others leave, but nothing of a path with a proof of its own. */
import { formatPlace } from '../../document/document.ts';
import type { AdviceNote } from './evaluation-advice.ts';
import type { Evaluation } from '../../hook/hook.ts';
import { type CompiledMapping, type RoutingTable, takesRequest, WorkBudget } from '../../mapping/mapping.ts';
import { WORK_LIMITS } from '../../mapping/facts.ts';
import type { HookRequest } from '../../request.ts';

/** Why the mapping for all the rest took no part, and what to write; none where the path skips what is left. */
export function catchAllNotes(
  evaluation: Evaluation,
  request: HookRequest,
  table: RoutingTable,
): readonly AdviceNote[] {
  const { path } = request;
  const isLeft = evaluation.mapping === undefined && table.isOwned(path);
  if (!isLeft || table.settingsOf(path).otherwise === 'skip' || mayBeMisread(evaluation)) return [];
  const rest = table.mappings.find((mapping) => isTaker(mapping, request));
  const own = table.mappings.filter(({ match }) => match.path === path);
  const prover = own.find(({ settings }) => settings.verify !== undefined);
  if (rest === undefined || prover === undefined) return [];
  const place = formatPlace(prover.settingsAt?.verify ?? prover.at);
  const why = `${rest.id} (${formatPlace(rest.at)}) has no match.path, so it takes only requests with the hook token, and none of the path ${path}, which has a proof of its own (verify, ${place})`;
  const text = `${why}; to have it take these, too, ${copyOf(rest, path)}, write id: ${rest.id}-${path.replaceAll(/[^\w.-]/g, '-')} and ${pathOf(rest, path)} in the copy, and leave all else as it is`;
  return [{ code: 'catch_all', text, names: [] }];
}

/** Its match with the path. */
function pathOf({ match: { when, source } }: CompiledMapping, path: string): string {
  return when === undefined && source === undefined ? `match: {path: ${path}}` : `path: ${path} below match`;
}

/** A condition that finds a field missing may be written wrong, which is surer. */
function mayBeMisread({ trace }: Evaluation): boolean {
  return trace.considered.some(({ failed }) => failed?.part === 'when' && failed.node.missing !== undefined);
}

function isTaker(mapping: CompiledMapping, request: HookRequest): boolean {
  if (mapping.match.path !== undefined) return false;
  try {
    return takesRequest(mapping, { request, work: new WorkBudget(WORK_LIMITS) });
  } catch {
    // A condition that does not end on this body takes nothing.
    return false;
  }
}

/** A file of one mapping becomes a second file, a list has one entry more. */
function copyOf({ at }: CompiledMapping, path: string): string {
  const { file, text } = at.source;
  const isAlone = text.lastIndexOf('\n', at.start - 1) + 1 === at.start && text[at.start] !== '{';
  const [, name, ending] = /^(.*)(\.[^./]+)$/.exec(file) ?? [];
  return isAlone && name !== undefined && ending !== undefined
    ? `copy ${file} to ${name}-${path.replaceAll(/[^\w.-]/g, '-')}${ending}`
    : 'copy it right behind itself';
}
