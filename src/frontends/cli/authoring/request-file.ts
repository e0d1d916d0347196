import { resolve } from 'node:path';
import { type DeliveryRequest, readRequestFile } from '../../../authoring/golden/golden.ts';
import type { HookRequest } from '../../../base/request.ts';
import { CliError, type Terminal } from '../terminal.ts';
import { printFindings } from '../config-file.ts';

/** Reads the requests of a request file (`path`, `headers`, `query`, `body` or `bodyFile`, `now`; or `deliveries`). */
export async function readRequests(terminal: Terminal, file: string): Promise<readonly HookRequest[]> {
  return (await readDeliveries(terminal, file)).map((delivery) => delivery.request);
}

/** Reads the deliveries of a request file, with their bodies as they are written. */
export async function readDeliveries(terminal: Terminal, file: string): Promise<readonly DeliveryRequest[]> {
  const { case: golden, findings } = await readRequestFile(resolve(terminal.cwd, file));
  printFindings(terminal, findings);
  if (golden !== undefined) return golden.deliveries;
  throw new CliError(`${file} is not a request file`);
}
