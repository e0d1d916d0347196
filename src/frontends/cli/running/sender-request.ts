import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { PathSettings } from '../../../engine/mapping/mapping.ts';
import type { WireRequest } from '../../../engine/hook/facts.ts';
import { signRequest } from '../../../engine/verify/facts.ts';
import { CliError, type Terminal } from '../terminal.ts';

/** Signs a request as the sender of its path would; on a path without `verify` it stays as it is. */
export async function signWire(
  terminal: Terminal,
  wire: WireRequest,
  { settings, keyFile }: { readonly settings: PathSettings; readonly keyFile: string | undefined },
): Promise<WireRequest> {
  if (settings.verify === undefined) return wire;
  const privateKey =
    keyFile === undefined ? undefined : await readFile(resolve(terminal.cwd, keyFile), 'utf8');
  const result = signRequest(settings.verify, wire, {
    nowMs: Date.now(),
    id: `msg_${randomUUID().replaceAll('-', '')}`,
    ...(privateKey === undefined ? {} : { privateKey }),
  });
  if (result.kind === 'problem') throw new CliError(`the request cannot be signed: ${result.problem}`);
  const headers = { ...wire.headers, ...result.headers };
  return { ...wire, headers, rawHeaders: Object.entries(headers).flat(), body: result.body, url: result.url };
}
