/** Prints what a hook became and why, for the log of `sluice dev`, in the words with which `sluice explain` begins. */
import { adviceFor, requestFinding } from '../../../authoring/advice/requests.ts';
import { briefOf, hintLines, indent, painter } from '../../../authoring/explanation/explanation.ts';
import type { Action } from '../../../base/action.ts';
import { HOOK_ERRORS, type HookErrorCode } from '../../../base/errors.ts';
import { quoted, spanOf } from '../../../base/finding.ts';
import { clearLine, type LogFields } from '../../../base/telemetry/telemetry.ts';
import { skipText } from '../../../engine/hook/hook.ts';
import type { RoutingTable } from '../../../engine/mapping/mapping.ts';
import type { SeenRequest } from '../../../service/server/server.ts';
import { formatOneLine } from '../terminal.ts';

interface DevLog {
  /** The command that explains the request in full. */
  readonly explain: string;
  readonly table: RoutingTable;
  readonly columns: number;
  /** Lines that were printed in full already, because they come again with every request of their mapping. */
  readonly printed: Set<string>;
}

/** Prints one line for the terminal; the reason, and the output of transforms, follow on lines of their own. */
export function formatDecisionLine(
  decision: SeenRequest,
  { color, ...log }: DevLog & { readonly color: boolean },
): string {
  const { request, evaluation, status, tookMs } = decision;
  const head = headOf(request.receivedAt, status, request.path);
  const line = `${head}  ${describe(decision)}  (${tookMs.toFixed(1)} ms, ${request.id})`;
  const notes = evaluation.trace.transforms.flatMap(({ reply, problem }) => [
    ...reply.logs.map((entry) => `  | ${entry.level}: ${formatOneLine(entry.text, 200)}`),
    ...(reply.kind === 'failed' ? [`  ! ${reply.failure}`, ...indent(reply.stack ?? reply.message)] : []),
    ...(problem === undefined ? [] : [`  ! ${formatOneLine(problem, 300)}`]),
  ]);
  const all = [...whyLines(decision, log), ...notes];
  return [toned(line, status, color), ...all.map(clearLine)].join('\n');
}

const MAX_PRINTED = 200;

/**
 * Says why no mapping matched, what rendered empty, and what is to be done, with the command that explains the request.
 */
export function whyLines(seen: SeenRequest, log: DevLog): readonly string[] {
  const { request, evaluation, status } = seen;
  const { mapping, trace } = evaluation;
  const isDoubtful = mapping === undefined || trace.templates.some(({ empty }) => empty.length > 0);
  const advice = isDoubtful ? adviceFor(evaluation, request, log.table) : undefined;
  const { verdict, hints, reported } = briefOf(evaluation, advice, { columns: log.columns - 2 });
  const codes = reported.flatMap(({ code, facts }) =>
    code === 'warning' ? [(facts as { readonly code: string }).code] : [],
  );
  const warnings = codes.map((code) => `${mapping?.id ?? ''} ${code}`);
  const isKnown = warnings.length > 0 && warnings.every((text) => log.printed.has(text));
  for (const text of warnings) if (log.printed.size < MAX_PRINTED) log.printed.add(text);
  const again = codes.map((code) => `hint: ${code}, as above`);
  const lines = [...verdict, ...(isKnown ? again : hints)];
  if (lines.length === 0 && status < 400 && seen.result?.duplicate !== true) return [];
  return [...lines, `more: ${log.explain}`].map((line) => `  ${line}`);
}

interface RefusalLog {
  readonly color: boolean;
  readonly columns: number;
  readonly explain: (id: string) => string;
  readonly hints?: readonly string[];
}

/** Prints a request that was answered without an evaluation, in the same form; `fields` are those of its log line. */
export function formatRefusalLine(
  fields: LogFields,
  { color, columns, explain, hints = [] }: RefusalLog,
): string {
  const { requestId, status, hook, code, outcome, tookMs, why } = fields;
  // Only senders with the token may see which names there are.
  const name = typeof hook === 'string' ? hook : '…';
  // A reason longer than a clause says what to do.
  const isShort = typeof why === 'string' && !/[:;] /.test(why);
  const title =
    code === 'unauthorized'
      ? 'the request does not prove where it comes from'
      : (HOOK_ERRORS[code as HookErrorCode]?.title ?? 'refused');
  const became = typeof code === 'string' ? `${code}: ${isShort ? why : title}` : String(outcome);
  const line = `${headOf(Date.now(), Number(status), name)}  ${became}  (${Number(tookMs).toFixed(1)} ms, ${String(requestId)})`;
  // A request for a run is no hook, and is not stored.
  const isKept = typeof code === 'string' && !name.startsWith('runs/');
  // The hint on the name repeats the reason, and says more.
  const hint =
    hints.length === 0 && typeof why === 'string' && isKept && !isShort
      ? hintLines(requestFinding('detail', quoted(why)), { columns: columns - 2 })
      : [];
  const more = isKept ? [...hint, ...hints, `more: ${explain(String(requestId))}`] : [];
  return [toned(line, Number(status), color), ...more.map((each) => `  ${each}`)].join('\n');
}

/** The time is local, as in the other lines of the terminal. */
function headOf(at: number, status: number, path: string): string {
  return `${new Date(at).toTimeString().slice(0, 8)}  ${status}  /${path}`;
}

function toned(line: string, status: number, color: boolean): string {
  const cleared = clearLine(line);
  const tone = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
  return painter(color)(tone, cleared);
}

/** `runId` is the run that the action became, which another request may have begun. */
function describeAction(action: Action, runId: string | undefined): string {
  if (action.kind === 'wake') return `wake (${action.mode}) “${formatOneLine(action.text, 60)}”`;
  const text = `“${formatOneLine(action.message, 60)}”`;
  if (action.kind === 'notify') return `notify ${action.channel} ${text}`;
  const { id, name, sessionKey, debounce } = action;
  const joins = runId === undefined || runId === id ? '' : `joins run ${runId} `;
  const waits =
    debounce === undefined
      ? ''
      : `${joins}(debounce: it begins ${spanOf(debounce.seconds)} after the last event) `;
  return `agent ${name} [${formatOneLine(sessionKey, 40)}] ${waits}${text}`;
}

const MAX_SHOWN = 3;

function describe({ evaluation: { outcome, mapping, further }, result }: SeenRequest): string {
  const isRepeat = result?.duplicate === true;
  const by = `${mapping === undefined ? '' : `${mapping.id} → `}${isRepeat ? 'repeat, nothing new: ' : ''}`;
  if (outcome.kind === 'skipped') return `${by}skipped by ${skipText(outcome)}`;
  if (outcome.kind === 'rejected') return `${by}${outcome.error.code}: ${outcome.error.detail}`;
  const shown = outcome.actions.slice(0, MAX_SHOWN).map((action, at) => {
    const stored = result?.accepted[at];
    const again = stored?.duplicate === true && !isRepeat ? 'repeat, nothing new: ' : '';
    const head = at > 0 && mapping !== undefined ? '' : by;
    const of = further === undefined ? head : `${action.origin.mappingId} → `;
    return `${of}${again}${describeAction(action, stored?.id)}`;
  });
  const more = outcome.actions.length - MAX_SHOWN;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
