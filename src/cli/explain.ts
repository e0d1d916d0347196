import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { evaluationToJson, formatEvaluation, type Evaluation } from '../hook/hook.ts';
import type { HookRequest } from '../request.ts';
import type { DecisionRecord } from '../storage/storage.ts';
import { clearControl } from '../telemetry/telemetry.ts';
import type { Cli } from './command-line.ts';
import { remedyOf } from './refusal-remedy.ts';
import { readRequests, parseKeptRequest } from './request-file.ts';
import { withStore } from './store.ts';
import { CliError } from './terminal.ts';
import { openWorkbench } from './workbench.ts';

export interface ExplainFlags {
  readonly config?: string;
  readonly json?: boolean;
}

/** Says what a request file becomes, or what a request that was answered became, and why. */
export async function explain(cli: Cli, what: string, flags: ExplainFlags): Promise<void> {
  if (existsSync(resolve(cli.terminal.cwd, what))) {
    const evaluations = await explainRequests(cli, await readRequests(cli.terminal, what), flags);
    if (flags.json === true)
      cli.terminal.out(JSON.stringify(evaluations.length === 1 ? evaluations[0] : evaluations, null, 2));
    return;
  }
  if (!/^[0-9a-f-]{8,36}$/i.test(what))
    throw new CliError(`there is no file ${what}, and it is not the id of a request`);
  const { decision, kept } = await withStore(cli, flags, async (storage) => ({
    decision: await storage.findDecision(what),
    kept: await storage.findKeptRequest(what),
  }));
  if (decision === undefined) {
    throw new CliError(`no decision with the id ${what} is kept; "sluice requests" lists the last 1,000`);
  }
  if (flags.json !== true) cli.terminal.out(formatDecision(decision));
  if (kept !== undefined && flags.json !== true)
    cli.terminal.out('\nThe request was kept. With the mappings and transforms as they are now:\n');
  const requests = kept === undefined ? [] : [parseKeptRequest(kept)];
  const [evaluation] = await explainRequests(cli, requests, flags);
  if (flags.json === true) {
    cli.terminal.out(
      JSON.stringify({ decision, ...(evaluation === undefined ? {} : { evaluation }) }, null, 2),
    );
  }
}

/** Evaluates with the mappings and transforms as they are; prints for people, resolves to what `--json` prints. */
async function explainRequests(
  cli: Cli,
  requests: readonly HookRequest[],
  flags: ExplainFlags,
): Promise<readonly unknown[]> {
  if (requests.length === 0) return [];
  const workbench = await openWorkbench(cli.terminal, flags);
  try {
    const evaluations: Evaluation[] = [];
    for (const request of requests) evaluations.push(await workbench.generation.evaluate(request, 'full'));
    for (const [index, evaluation] of flags.json === true ? [] : evaluations.entries()) {
      const request = requests[index];
      cli.terminal.out(
        formatEvaluation(evaluation, {
          color: cli.terminal.color,
          ...(request === undefined ? {} : { request }),
        }),
      );
    }
    if (evaluations.some((evaluation) => evaluation.outcome.kind === 'rejected')) cli.setExitCode(1);
    return evaluations.map((evaluation) => evaluationToJson(evaluation));
  } finally {
    await workbench.close();
  }
}

/** What the decision log knows: ids, places, no values of the payload. */
export function formatDecision(decision: DecisionRecord): string {
  const head = `${decision.requestId}  ${new Date(decision.receivedAt).toISOString()}  /${decision.path}  ->  ${decision.status} ${decision.code ?? decision.outcome}`;
  const lines = [
    head,
    `  generation ${decision.generation}, body ${decision.bodyBytes} bytes, took ${decision.tookMs.toFixed(1)} ms`,
  ];
  if (decision.mappingId !== undefined) lines.push(`  mapping ${decision.mappingId}`);
  if (decision.detail !== undefined) lines.push(`  why: ${decision.detail}`);
  const remedy = decision.mappingId === undefined ? remedyOf(decision.code) : undefined;
  if (remedy !== undefined) lines.push(`  hint: ${remedy}`);
  const { refusal } = decision;
  if (refusal !== undefined) lines.push(`  ✗ proof of ${refusal.scheme}: ${refusal.text}`);
  for (const miss of decision.missed ?? []) {
    lines.push(
      `  ✗ ${miss.mappingId}: ${miss.part} did not match${miss.place === undefined ? '' : `  ${miss.place}`}`,
    );
  }
  if (decision.actionIds.length > 0) lines.push(`  made ${decision.actionIds.join(', ')}`);
  for (const note of decision.transformNotes ?? []) lines.push(`  | ${note}`);
  return clearControl(lines.join('\n'));
}
