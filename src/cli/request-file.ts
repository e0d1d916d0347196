import { resolve } from 'node:path';
import { formatDiagnostics } from '../document/document.ts';
import { type DeliveryRequest, readRequestFile } from '../golden/golden.ts';
import { parseJson } from '../json.ts';
import type { EvaluationJson } from '../hook/hook.ts';
import type { HookRequest } from '../request.ts';
import type { KeptRequest } from '../storage/storage.ts';
import { CliError, type Terminal } from './terminal.ts';

/** The requests of a request file (`path`, `headers`, `query`, `body` or `bodyFile`, `now`; or `deliveries`). */
export async function readRequests(terminal: Terminal, file: string): Promise<readonly HookRequest[]> {
  return (await readDeliveries(terminal, file)).map((delivery) => delivery.request);
}

/** The deliveries of a request file, with their bodies as they are written. */
export async function readDeliveries(terminal: Terminal, file: string): Promise<readonly DeliveryRequest[]> {
  const { case: golden, diagnostics } = await readRequestFile(resolve(terminal.cwd, file));
  if (golden !== undefined) return golden.deliveries;
  terminal.err(formatDiagnostics(diagnostics, { color: terminal.color }));
  throw new CliError(`${file} is not a request file`);
}

/** How a kept request was judged when it came; without prompts. */
export type KeptTrace = Omit<EvaluationJson, 'actions'> & {
  readonly generation: string;
  readonly actions: readonly { readonly kind: string; readonly id: string }[];
};

/** A request the store kept, with how it was judged. */
export function parseKeptRequest(kept: KeptRequest): HookRequest & { readonly judged?: KeptTrace } {
  return parseJson(kept.json) as unknown as HookRequest & { readonly judged?: KeptTrace };
}
