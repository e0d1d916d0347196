import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { adviceFor } from '../analysis/analysis.ts';
import { evaluationToJson, formatEvaluation, parseKeptRequest } from '../hook/hook.ts';
import type { HookRequest } from '../request.ts';
import type { Cli } from './command-line.ts';
import { readRequests } from './request-file.ts';
import { sendRequests } from './send.ts';
import { withStore } from './store-tasks.ts';
import { CliError } from './terminal.ts';
import { openWorkbench } from './workbench.ts';

export interface ReplayFlags {
  readonly config?: string;
  readonly against?: string;
  readonly json?: boolean;
}

/**
 * Runs a request again: a file, or one that was kept because its transform failed. Evaluates it with the mappings and
 * transforms as they are now, or with `--against` sends it for real.
 */
export async function replay(cli: Cli, what: string, flags: ReplayFlags): Promise<void> {
  const requests = await findRequests(cli, what, flags);
  if (flags.against !== undefined) {
    await sendRequests(cli, requests, flags);
    return;
  }
  const workbench = await openWorkbench(cli.terminal, flags);
  try {
    const list: unknown[] = [];
    for (const request of requests) {
      const evaluation = await workbench.generation.evaluate(request, 'full');
      list.push(evaluationToJson(evaluation));
      if (flags.json !== true)
        cli.terminal.out(
          formatEvaluation(evaluation, {
            color: cli.terminal.color,
            request,
            advice: adviceFor(evaluation, request, workbench.generation.table),
          }),
        );
      if (evaluation.outcome.kind === 'rejected') cli.setExitCode(1);
    }
    if (flags.json === true) cli.terminal.out(JSON.stringify(list.length === 1 ? list[0] : list, null, 2));
  } finally {
    await workbench.close();
  }
}

async function findRequests(cli: Cli, what: string, flags: ReplayFlags): Promise<readonly HookRequest[]> {
  if (existsSync(resolve(cli.terminal.cwd, what))) return readRequests(cli.terminal, what);
  const kept = await withStore(cli, flags, (storage) => storage.findKeptRequest(what));
  if (kept === undefined) {
    throw new CliError(
      `there is no file ${what}, and no request with that id was kept: storage.keepRequests says which are`,
    );
  }
  const { judged: _judged, ...request } = parseKeptRequest(kept);
  return [request];
}
