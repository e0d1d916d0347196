import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseKeptRequest } from '../hook/hook.ts';
import type { Cli } from './command-line.ts';
import type { JsonFlags } from './config-file.ts';
import { explainRequests } from './explain.ts';
import { readDeliveries } from './request-file.ts';
import { sendRequests } from './send.ts';
import type { RequestOfFile } from './sender-request.ts';
import { withStore } from './store-tasks.ts';
import { CliError } from './terminal.ts';

export interface ReplayFlags extends JsonFlags {
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
  await explainRequests(
    cli,
    requests.map(({ request }) => request),
    flags,
  );
}

async function findRequests(cli: Cli, what: string, flags: ReplayFlags): Promise<readonly RequestOfFile[]> {
  if (existsSync(resolve(cli.terminal.cwd, what))) return readDeliveries(cli.terminal, what);
  const kept = await withStore(cli, flags, (storage) => storage.findKeptRequest(what));
  if (kept === undefined) {
    throw new CliError(
      `there is no file ${what}, and no request with that id was kept: storage.keepRequests says which are`,
    );
  }
  const { judged: _judged, ...request } = parseKeptRequest(kept);
  return [{ request }];
}
