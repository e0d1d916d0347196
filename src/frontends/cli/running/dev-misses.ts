/* Why a request became what it is, for the log of `sluice dev`: what `sluice explain` says first. */
import { adviceFor } from '../../../authoring/advice/requests.ts';
import type { Finding } from '../../../base/finding.ts';
import { briefOf, hintLines } from '../../../authoring/explanation/explanation.ts';
import { type RoutingTable } from '../../../engine/mapping/mapping.ts';
import type { SeenRequest } from '../../../service/server/server.ts';

/** How the log is written. */
export interface DevLog {
  /** The command that tells all of a request. */
  readonly explain: string;
  /** The mappings as they are. */
  readonly table: RoutingTable;
  /** Letters in a line. */
  readonly columns: number;
  /** What was printed whole: it comes again with every request of its mapping. */
  readonly told: Set<string>;
}

const MAX_TOLD = 200;

/** Why no mapping took it, what rendered empty, and what is to be done; with the command that tells all of it. */
export function whyLines(seen: SeenRequest, log: DevLog): readonly string[] {
  const { request, evaluation, status } = seen;
  const { mapping, trace } = evaluation;
  const isDoubtful = mapping === undefined || trace.templates.some(({ empty }) => empty.length > 0);
  const advice = isDoubtful ? adviceFor(evaluation, request, log.table) : undefined;
  const { verdict, hints, told } = briefOf(evaluation, advice, { columns: log.columns - 2 });
  const warnings = told.flatMap(({ warning }) =>
    warning === undefined ? [] : [`${mapping?.id ?? ''} ${warning}`],
  );
  const isKnown = warnings.length > 0 && warnings.every((text) => log.told.has(text));
  for (const text of warnings) if (log.told.size < MAX_TOLD) log.told.add(text);
  const lines = [
    ...verdict,
    ...(isKnown ? told.map(({ warning = '' }) => `hint: ${warning}, as above`) : hints),
  ].map((line) => `  ${line}`);
  return lines.length === 0 && status < 400 && seen.result?.duplicate !== true
    ? []
    : [...lines, `  more: ${log.explain}`];
}

/** What only the explanation has to say of a mapping, in lines that fit; other lines may stand between it and its request. */
export function runHintLines(
  { mappingId, requestId }: { readonly mappingId: string; readonly requestId: string },
  hint: Finding,
  { columns }: Pick<DevLog, 'columns'>,
): readonly string[] {
  const lines = hintLines(hint, { columns: columns - 2 });
  return [`of request ${requestId}, ${mappingId}`, ...lines].map((line) => `  ${line}`);
}
