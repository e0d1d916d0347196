import { quoted } from '../../../base/finding.ts';
import { styleText } from 'node:util';
import type { Action, AgentAction } from '../../../base/action.ts';
import { skipText } from '../../../engine/hook/hook.ts';
import { spanOf } from '../../../base/finding.ts';
import type { SeenRequest } from '../../../service/server/server.ts';
import { HOOK_ERRORS, type HookErrorCode } from '../../../base/errors.ts';
import { hintLines, indent } from '../../../authoring/explanation/explanation.ts';
import { clearLine, type LogFields } from '../../../base/telemetry/telemetry.ts';
import { requestFinding } from '../../../authoring/advice/requests.ts';
import { whyLines, type DevLog } from './dev-misses.ts';
import { formatOneLine } from '../terminal.ts';

/** What a hook became, in one line for the terminal of `sluice dev`; transform output follows on lines of its own. */
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

/** How a refusal is written: in colour, and with the command that tells all of it, by its id. */
interface RefusalLog {
  readonly color: boolean;
  readonly columns: number;
  readonly explain: (id: string) => string;
  /** What is said of its name. */
  readonly hints?: readonly string[];
}

/** A request that was answered without an evaluation, in the same form; `fields` are those of its log line. */
export function formatRefusalLine(
  fields: LogFields,
  { color, columns, explain, hints = [] }: RefusalLog,
): string {
  const { requestId, status, hook, code, outcome, tookMs, why } = fields;
  // Names are known only of senders with the token.
  const name = typeof hook === 'string' ? hook : '…';
  // What is more than a clause says what to do.
  const isShort = typeof why === 'string' && !/[:;] /.test(why);
  const became = typeof code === 'string' ? `${code}: ${isShort ? why : noteOf(code)}` : String(outcome);
  const line = `${headOf(Date.now(), Number(status), name)}  ${became}  (${Number(tookMs).toFixed(1)} ms, ${String(requestId)})`;
  // What asks for a run is no hook, and is not kept.
  const isKept = typeof code === 'string' && !name.startsWith('runs/');
  // What is said of its name says what the reason does, and more.
  const hint =
    hints.length === 0 && typeof why === 'string' && isKept && !isShort
      ? hintLines(requestFinding('detail', quoted(why)), { columns: columns - 2 })
      : [];
  const more = isKept ? [...hint, ...hints, `more: ${explain(String(requestId))}`] : [];
  return [toned(line, Number(status), color), ...more.map((each) => `  ${each}`)].join('\n');
}

function noteOf(code: string): string {
  if (code === 'no_mapping_matched') return 'no mapping takes this name';
  if (code === 'unauthorized') return 'the request does not prove where it comes from';
  return Object.hasOwn(HOOK_ERRORS, code) ? HOOK_ERRORS[code as HookErrorCode].title : 'refused';
}

/** Local time, as the other lines of the terminal have it. */
function headOf(at: number, status: number, path: string): string {
  return `${new Date(at).toTimeString().slice(0, 8)}  ${status}  /${path}`;
}

function toned(line: string, status: number, color: boolean): string {
  const cleared = clearLine(line);
  const tone = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
  return color ? styleText(tone, cleared, { validateStream: false }) : cleared;
}

/** `runId`: of the run that it became, which another request may have begun. */
function describeAction(action: Action, runId: string | undefined): string {
  switch (action.kind) {
    case 'wake':
      return `wake (${action.mode}) “${formatOneLine(action.text, 60)}”`;
    case 'agent':
      return `agent ${action.name} ${placeOf(action, runId)} “${formatOneLine(action.message, 60)}”`;
    case 'notify':
      return `notify ${action.channel} “${formatOneLine(action.message, 60)}”`;
  }
}

/** Its conversation; of a run that gathers events what it waits for, and whose it is. */
function placeOf({ id, sessionKey, debounce }: AgentAction, runId: string | undefined): string {
  const session = `[${formatOneLine(sessionKey, 40)}]`;
  if (debounce === undefined) return session;
  const waits = `(debounce: it begins ${spanOf(debounce.seconds)} after the last event of “${formatOneLine(debounce.key, 40)}”)`;
  return runId === undefined || runId === id ? `${session} ${waits}` : `joins run ${runId} ${waits}`;
}

/** Actions of one request that are shown. */
const MAX_SHOWN = 3;

/** Why one request became several actions. */
function eachText({ mapping, outcome }: SeenRequest['evaluation']): string {
  const count = outcome.kind === 'accepted' ? outcome.actions.length : 0;
  if (mapping?.forEach === undefined || count < 2) return '';
  const what = mapping.action === 'wake' ? 'events' : mapping.action === 'notify' ? 'notifications' : 'runs';
  return `${count} ${what}, one for each element of ${mapping.forEach.text} (forEach): `;
}

function describe({ evaluation, result }: SeenRequest): string {
  const { outcome, mapping, further } = evaluation;
  const by = `${mapping === undefined ? '' : `${mapping.id} → `}${result?.duplicate === true ? 'repeat, nothing new: ' : ''}`;
  switch (outcome.kind) {
    case 'accepted':
      return outcome.actions
        .slice(0, MAX_SHOWN)
        .map((action, at) => {
          const stored = result?.accepted[at];
          const again =
            stored?.duplicate === true && result?.duplicate !== true ? 'repeat, nothing new: ' : '';
          const head = at > 0 && mapping !== undefined ? '' : `${by}${eachText(evaluation)}`;
          const of = further === undefined ? head : `${action.origin.mappingId} → `;
          return `${of}${again}${describeAction(action, stored?.id)}`;
        })
        .concat(outcome.actions.length > MAX_SHOWN ? [`and ${outcome.actions.length - MAX_SHOWN} more`] : [])
        .join('; ');
    case 'skipped':
      return `${by}skipped by ${skipText(outcome)}`;
    case 'rejected':
      return `${by}${outcome.error.code}: ${outcome.error.detail}`;
  }
}
