import { resolve } from 'node:path';
import { formatDiagnostics } from '../document/document.ts';
import { readRequestFile } from '../golden/golden.ts';
import { parseJson } from '../json.ts';
import type { HookRequest } from '../request.ts';
import type { KeptRequest } from '../storage/storage.ts';
import { CliError, type Terminal } from './terminal.ts';

/** The deliveries of a request file (`path`, `headers`, `query`, `body` or `bodyFile`, `now`; or `deliveries`). */
export async function readRequests(terminal: Terminal, file: string): Promise<readonly HookRequest[]> {
  const { case: golden, diagnostics } = await readRequestFile(resolve(terminal.cwd, file));
  if (golden === undefined) {
    terminal.err(formatDiagnostics(diagnostics, { color: terminal.color }));
    throw new CliError(`${file} is no request file`);
  }
  return golden.deliveries.map((delivery) => delivery.request);
}

/** A request the store kept because its transform failed. */
export function parseKeptRequest(kept: KeptRequest): HookRequest {
  return parseJson(kept.json) as unknown as HookRequest;
}
