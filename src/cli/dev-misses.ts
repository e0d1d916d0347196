/* Why a request became what it is, for the log of `sluice dev`: what `sluice explain` says first. */
import { say } from '../finding.ts';
import { moveBefore } from '../advice/file-order.ts';
import { adviceFor, type EvaluationNote, laterMappings } from '../advice/requests.ts';
import { formatPlace } from '../document/document.ts';
import { briefOf, hintLines } from '../explanation/explanation.ts';
import { type RoutingTable } from '../mapping/mapping.ts';
import type { SeenRequest } from '../server/server.ts';

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
  const warnings = told.flatMap(({ warning, at = '' }) =>
    warning === undefined ? [] : [`${mapping?.id ?? ''} ${warning} ${at}`],
  );
  const isKnown = warnings.length > 0 && warnings.every((text) => log.told.has(text));
  for (const text of warnings) if (log.told.size < MAX_TOLD) log.told.add(text);
  const lines = [
    ...verdict,
    ...(isKnown ? told.map(({ warning = '' }) => `hint: ${warning}, as above`) : hints),
    ...laterLines(seen, log),
  ].map((line) => `  ${line}`);
  return lines.length === 0 && status < 400 && seen.result?.duplicate !== true
    ? []
    : [...lines, `  more: ${log.explain}`];
}

/** What only the explanation has to say of a mapping, in lines that fit; other lines may stand between it and its request. */
export function runHintLines(
  { mappingId, requestId }: { readonly mappingId: string; readonly requestId: string },
  hint: EvaluationNote,
  { columns }: Pick<DevLog, 'columns'>,
): readonly string[] {
  const lines = hintLines(hint, { columns: columns - 2 });
  return [`of request ${requestId}, ${mappingId}`, ...lines].map((line) => `  ${line}`);
}

/** A mapping that would have taken it, too, and does not only take what others leave; once for each two mappings. */
function laterLines({ request, evaluation }: SeenRequest, log: DevLog): readonly string[] {
  const rival = laterMappings(evaluation, request, log.table).find(({ takesAny }) => !takesAny);
  if (rival === undefined) return [];
  const { id = '', at } = evaluation.mapping ?? {};
  const first = { id, at: at === undefined ? '' : formatPlace(at) };
  const text = say`if ${rival.id} should take such requests, ${moveBefore(rival, first)}: it would have taken this one, too, and only the first mapping that matches acts`;
  return toldOnce({ code: 'only_first_acts', text }, `${rival.at} ${first.at}`, log);
}

function toldOnce(note: EvaluationNote, key: string, log: DevLog): readonly string[] {
  const known = `${note.setting ?? ''} ${key}`;
  if (log.told.has(known) || log.told.size >= MAX_TOLD) return [];
  log.told.add(known);
  return hintLines(note, { columns: log.columns - 2 });
}
