import { basename, dirname, resolve } from 'node:path';
import { wholeFile } from '../../../base/document/document.ts';
import { defined } from '../../../base/json.ts';
import { TRANSFORM_DEFAULTS } from '../../../engine/mapping/facts.ts';
import { randomKey, transformInput } from '../../../engine/hook/hook.ts';
import { Sandbox, type TransformRef, type TransformReply } from '../../../engine/sandbox/sandbox.ts';
import { clearControl } from '../../../base/telemetry/telemetry.ts';
import type { Cli } from '../command-line.ts';
import { printFindings } from '../config-file.ts';
import { printJson } from '../json.ts';
import { readRequests } from './request-file.ts';
import { CliError, formatBytes } from '../terminal.ts';

export interface TransformRunFlags {
  readonly config?: string;
  readonly request: string;
  readonly export?: string;
  readonly json?: boolean;
}

export async function runTransform(cli: Cli, file: string, flags: TransformRunFlags): Promise<void> {
  const path = resolve(cli.terminal.cwd, file);
  const requests = await readRequests(cli.terminal, flags.request);
  const [request] = requests;
  if (request === undefined || requests.length > 1)
    throw new CliError(`${flags.request} must contain exactly one request`, 2);
  const { json, export: name } = flags;
  const ref: TransformRef = {
    ...TRANSFORM_DEFAULTS,
    module: basename(path),
    ...defined({ export: name }),
    at: wholeFile(file),
  };
  // A module may import whatever lies next to it, so its own folder is the transforms folder here.
  const sandbox = new Sandbox({ workers: 1, spare: 0 });
  try {
    const transforms = await sandbox.loadTransforms(dirname(path), [ref]);
    printFindings(cli.terminal, transforms.findings);
    if (transforms.findings.some(({ severity }) => severity === 'error'))
      throw new CliError('the module cannot be loaded; nothing was run');
    const reply = await transforms.call({
      ref,
      json: JSON.stringify(transformInput(request)),
      now: request.receivedAt,
      seed: request.seed,
      key: randomKey(request),
      budgetMs: ref.timeoutMs,
    });
    if (json === true) printJson(cli.terminal, 'transform run', { reply });
    else cli.terminal.out(formatReply(reply, ref));
    if (reply.kind === 'failed') cli.setExitCode(1);
  } finally {
    await sandbox.stop();
  }
}

function formatReply(reply: TransformReply, ref: TransformRef): string {
  const logs = reply.logs.map((line) => `${line.level}: ${line.text}`);
  const dropped = reply.logsDropped === 0 ? [] : [`(${reply.logsDropped} more lines dropped)`];
  const cost = [
    `took ${reply.tookMs.toFixed(1)} of ${ref.timeoutMs} ms`,
    ...(reply.cpuMs === undefined ? [] : [`cpu ${reply.cpuMs.toFixed(2)} ms`]),
    ...(reply.heapBytes === undefined ? [] : [`heap ${formatBytes(reply.heapBytes)} of ${ref.memoryMb} MB`]),
  ].join(', ');
  return clearControl([...logs, ...dropped, describe(reply), cost].join('\n'));
}

function describe(reply: TransformReply): string {
  if (reply.kind === 'failed') return `${reply.failure}: ${reply.stack ?? reply.message}`;
  if (reply.json === undefined) return 'undefined (the draft stays as it is)';
  return JSON.stringify(JSON.parse(reply.json), null, 2);
}
