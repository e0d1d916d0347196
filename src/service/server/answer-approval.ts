import { HookError } from '../../base/errors.ts';
import { buildQuestion } from '../../base/boundary/boundary.ts';
import { type AgentRun, DROPPED, type RunRecord, SUPERSEDED } from '../../engine/storage/storage.ts';
import { escapeHtml } from '../../base/telemetry/telemetry.ts';
import { readBody } from './body.ts';
import type { Ending, Exchange } from './exchange.ts';
import { failedEnding } from './problem.ts';
import type { ServerContext } from './server-context.ts';

const MAX_FORM_BYTES = 1_024;
const HEADERS = [
  'content-security-policy',
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
  'referrer-policy',
  'no-referrer',
];

/**
 * Answers the link of runs that wait for an approval; undefined for every other name. GET shows all that they read, as
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
  // A sender may know the token behind the proof, and the run, but not the nonce of the message.
  if (run?.approval?.nonce !== asked.nonce)
    throw new HookError('not_found', 'nothing is served at this path');
  const [first, ...others] = exchange.receivedAt < asked.expiresAt ? await storage.findAsked(asked) : [];
  const { method } = exchange.req;
  if (method === 'GET' || method === 'HEAD')
    return first === undefined ? closedPage(run) : openPage([first, ...others], asked.nonce);
  if (method !== 'POST') {
    const error = new HookError('method_not_allowed', 'this path takes only GET, HEAD, POST');
    return failedEnding(exchange, error, { headers: ['allow', 'GET, HEAD, POST'] });
  }
  const form = await readBody(exchange, { maxBytes: MAX_FORM_BYTES, unproved: context.unproved });
  const decision = DECISIONS.get(new URLSearchParams(form.toString('latin1')).get('decision') ?? '');
  if (decision === undefined) throw new HookError('invalid_body', 'decision must be approve or deny');
  const answer = { decision, by: 'link', nowMs: exchange.receivedAt } as const;
  const decided = await storage.decideApproval(first?.id ?? run.id, answer);
  return closedPage({ ...run, ...(decided && { approval: decided.approval }) });
}

const DECISIONS: ReadonlyMap<string, 'approved' | 'denied'> = new Map([
  ['approve', 'approved'],
  ['deny', 'denied'],
]);

/** The page with all that the runs read, and the form that answers. */
function openPage([first, ...others]: readonly [AgentRun, ...(readonly AgentRun[])], secret: string): Ending {
  const { text } = buildQuestion([first.action, ...others.map(({ action }) => action)], { secret });
  const ids = [first, ...others].map(({ id }) => `Run ${id}`).join('<br>');
  return page(`<pre>${escapeHtml(text)}</pre>
<form method="post"><button name="decision" value="approve">Approve</button> <button name="decision" value="deny">Deny</button></form>
<p>${ids}</p>`);
}

const ENDS: Readonly<Record<string, string>> = {
  [DROPPED.code]: 'dropped',
  [SUPERSEDED.code]: 'ended with its conversation',
};

/** The page after the decision: who opens the link later sees nothing else of the runs. */
function closedPage({ approval, lastError }: RunRecord): Ending {
  const end = ENDS[lastError?.code ?? ''] ?? 'not answered in time';
  return page(`<p><strong>${approval?.decision ?? end}</strong></p>`);
}

function page(content: string): Ending {
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>May this run begin?</title><style>body{font:16px sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere}button{font:inherit;padding:.5rem 1rem;border:1px solid;border-radius:6px;background:none}
[value=approve]{background:#0b57d0;border-color:#0b57d0;color:#fff}</style>
<h1>May this run begin?</h1>${content}</html>`;
  const answer = { status: 200, body, contentType: 'text/html; charset=utf-8', headers: HEADERS };
  return { answer, outcome: 'served' };
}
