import { HookError } from '../errors.ts';
import type { AgentAction } from '../action.ts';
import type { RunRecord } from '../storage/storage.ts';
import { escapeHtml } from '../telemetry/telemetry.ts';
import { readBody } from './body.ts';
import { type Ending, failedEnding } from './ending.ts';
import type { Answer, Exchange } from './exchange.ts';
import type { ServerContext } from './server-context.ts';

const MAX_FORM_BYTES = 1_024;
const HEADERS = [
  'content-security-policy',
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy',
  'no-referrer',
];

/**
 * Answers the link of a run that waits for an approval; undefined for every other name. GET shows what is asked, as
 * previews and scanners open links, too; only the POST of its form decides. Nothing of it stands in a decision or log.
 */
export async function answerApproval(
  context: ServerContext,
  exchange: Exchange,
  name: string,
): Promise<Ending | undefined> {
  const asked = exchange.generation.askedBy?.(name);
  if (asked === undefined) return undefined;
  const { storage } = context.deps;
  const run = await storage.findRun(asked.runId);
  // A sender knows the token that the proof is made with, and the run; not what the message had.
  if (run === undefined || (run.approval ?? asked).nonce !== asked.nonce)
    throw new HookError('not_found', 'nothing is served at this path');
  const { method } = exchange.req;
  if (method === 'GET' || method === 'HEAD') return served(pageOf(run, exchange.receivedAt));
  if (method !== 'POST') {
    const error = new HookError('method_not_allowed', 'this path takes only GET, HEAD, POST');
    return failedEnding(exchange, error, { headers: ['allow', 'GET, HEAD, POST'] });
  }
  const form = await readBody(exchange, { maxBytes: MAX_FORM_BYTES, unproved: context.unproved });
  const decision = DECISIONS.get(new URLSearchParams(form.toString('latin1')).get('decision') ?? '');
  if (decision === undefined) throw new HookError('invalid_body', 'decision must be approve or deny');
  const answer = { decision, by: 'link', nowMs: exchange.receivedAt } as const;
  const decided = await storage.decideApproval(run.id, answer);
  return served(pageOf({ ...run, ...(decided && { approval: decided.approval }) }, exchange.receivedAt));
}

const DECISIONS: ReadonlyMap<string, 'approved' | 'denied'> = new Map([
  ['approve', 'approved'],
  ['deny', 'denied'],
]);

const served = (answer: Answer): Ending => ({ answer, outcome: 'served' });

/** What is asked, with the form while it may be answered, else what was decided. */
function pageOf(run: RunRecord, nowMs: number): Answer {
  const { action, approval, state, id } = run;
  const isOpen = approval?.decision === undefined && state === 'queued' && nowMs < (approval?.expiresAt ?? 0);
  const { text = '' } = (action as AgentAction).approve ?? {};
  const below = isOpen
    ? '<form method="post"><button name="decision" value="approve">Approve</button> <button name="decision" value="deny">Deny</button></form>'
    : `<p><strong>${closedBy(run)}</strong></p>`;
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>May this run begin?</title><style>body{font:16px sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere}button{font:inherit;padding:.5rem 1rem}</style>
<h1>May this run begin?</h1><pre>${escapeHtml(text)}</pre>${below}<p>Run ${id}</p></html>`;
  return { status: 200, body, contentType: 'text/html; charset=utf-8', headers: HEADERS };
}

function closedBy({ approval, lastError }: RunRecord): string {
  if (approval === undefined) return 'begun by hand';
  return approval.decision ?? (lastError?.code === 'dropped' ? 'dropped' : 'not answered in time');
}
