import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { readKeptRequest, type WrittenRequest } from '../../../engine/hook/hook.ts';
import { defined } from '../../../base/json.ts';
import { asItWasRead } from '../../../base/payload/payload.ts';
import type { Cli } from '../command-line.ts';
import { explainRequests } from './explain.ts';
import { readDeliveries } from './request-file.ts';
import { type SendFlags, sendRequests } from '../running/send.ts';
import { soon, withStore } from '../operating/store-tasks.ts';
import { CliError } from '../terminal.ts';
import type { Storage } from '../../../engine/storage/storage.ts';

/**
 * Runs a request again: a file, or one that was stored because its transform failed. Evaluates it with the
 * mappings and transforms as they are now, or with `--against` sends it for real.
 */
export async function replay(cli: Cli, what: string, flags: SendFlags): Promise<void> {
  const requests = await findRequests(cli, what, flags);
  if (flags.against === undefined) return explainRequests(cli, requests, flags);
  const [answer] = await sendRequests(cli, requests, flags);
  if (!isFile(cli, what) && typeof answer?.requestId === 'string') {
    const { requestId } = answer;
    await withStore(cli, flags, (storage) => noteReplay(storage, what, requestId));
  }
}

const isFile = (cli: Cli, what: string): boolean => existsSync(resolve(cli.terminal.cwd, what));

/**
 * Both requests are linked where the service that received the new one has this store. Another service
 * keeps its own decisions.
 */
async function noteReplay(storage: Storage, id: string, replay: string): Promise<void> {
  const original = (await storage.findDecision(id))?.replayOf ?? id;
  await soon(async () => ((await storage.noteReplay(original, replay)) ? true : undefined));
}

async function findRequests(cli: Cli, what: string, flags: SendFlags): Promise<readonly WrittenRequest[]> {
  if (isFile(cli, what)) return readDeliveries(cli.terminal, what);
  const kept = await withStore(cli, flags, (storage) => soon(() => storage.findKeptRequest(what)));
  if (kept === undefined) {
    throw new CliError(
      `there is no file ${what}, and no request with that id was kept: storage.keepRequests says which are`,
    );
  }
  if (kept.kind === 'shape')
    throw new CliError(
      `of the request ${what} only the shape was kept, as it was accepted: storage.keepRequests.which: all keeps whole ones`,
    );
  const { request, unread } = readKeptRequest(kept);
  return [{ request: asItWasRead(request), ...defined({ rawBody: unread }) }];
}
