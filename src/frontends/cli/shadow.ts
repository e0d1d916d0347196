import { randomUUID } from 'node:crypto';
import { recordCase } from '../../authoring/golden/golden.ts';
import { createHookRequest, type Evaluation } from '../../engine/hook/hook.ts';
import { formatEvaluation } from '../../authoring/explanation/explanation.ts';
import { parseJson, type JsonValue } from '../../base/json.ts';
import type { HookRequest } from '../../base/request.ts';
import { startShadowListener, type ShadowedExchange } from '../../service/server/server.ts';
import { clearControl, clearLine } from '../../base/telemetry/telemetry.ts';
import { withoutText } from './recorder.ts';
import type { Cli } from './command-line.ts';
import type { ConfigFlags } from './config-file.ts';
import { CliError, type Terminal } from './terminal.ts';
import { openWorkbench, type OpenWorkbench } from './workbench.ts';

export interface ShadowFlags extends ConfigFlags {
  readonly upstream: string;
  readonly host?: string;
  readonly port?: number;
  readonly record?: string;
  readonly mask: readonly string[];
}

/** Passes live hooks on to another gateway and shows what this side would have made of them; performs nothing. */
export async function shadow(cli: Cli, flags: ShadowFlags): Promise<void> {
  const { terminal } = cli;
  const upstream = readUpstream(flags.upstream);
  const bench = await openWorkbench(terminal, flags);
  const counts = { same: 0, different: 0 };
  const listener = await startListener(terminal, { bench, flags, counts }, upstream);
  const { path } = bench.generation.config.settings.hooks;
  terminal.err(
    `passes hooks on from ${listener.url}${path} to ${upstream.origin}; nothing is performed here`,
  );
  try {
    await terminal.untilInterrupted();
  } finally {
    await listener.stop();
    await bench.close();
    terminal.err(`${counts.same} alike, ${counts.different} different`);
  }
}

function readUpstream(text: string): URL {
  const upstream = URL.parse(text);
  if (upstream !== null && /^https?:$/.test(upstream.protocol)) return upstream;
  throw new CliError(
    `--upstream takes the address of the other gateway, such as http://127.0.0.1:18789; found ${JSON.stringify(text)}`,
    2,
  );
}

interface ShadowRun {
  readonly bench: OpenWorkbench;
  readonly flags: ShadowFlags;
  readonly counts: { same: number; different: number };
}

function startListener(
  terminal: Terminal,
  run: ShadowRun,
  upstream: URL,
): ReturnType<typeof startShadowListener> {
  const { bench, flags } = run;
  return startShadowListener({
    host: flags.host ?? '127.0.0.1',
    port: flags.port ?? bench.generation.config.settings.server.port,
    upstream,
    hooksPath: bench.generation.config.settings.hooks.path,
    onExchange: (exchange) =>
      void look(terminal, run, exchange).catch((error: unknown) =>
        terminal.err(`not looked at: ${String(error)}`),
      ),
    onFailure: (url, code) => terminal.err(unreachedLine(url, code)),
  });
}

function unreachedLine(url: string, code: string): string {
  const [path] = url.split('?', 1);
  return clearLine(`502 ${path ?? ''}: the other gateway could not be reached (${code})`);
}

/** Shows what this side makes of a request, counts it, and records it where that is asked for. */
async function look(
  terminal: Terminal,
  { bench, flags, counts }: ShadowRun,
  exchange: ShadowedExchange,
): Promise<void> {
  const seen = await judge(bench, exchange);
  counts[seen.isSame ? 'same' : 'different'] += 1;
  terminal.out(formatSeen(exchange, seen, terminal.color));
  if (flags.record === undefined || seen.request === undefined) return;
  const { secrets } = bench.generation.config;
  const { leftOut } = await recordCase(seen.request, { dir: flags.record, masks: flags.mask, secrets });
  if (leftOut.length > 0) terminal.err(clearLine(`recorded${withoutText(leftOut)}`));
}

/** What this side makes of a request, beside the answer of the other. */
interface Seen {
  readonly request?: HookRequest;
  readonly evaluation?: Evaluation;
  /** The status this side would have answered; absent where it does not take such a request at all. */
  readonly status?: number;
  readonly isSame: boolean;
}

async function judge({ generation }: OpenWorkbench, exchange: ShadowedExchange): Promise<Seen> {
  const request = requestOf(exchange, generation.config.settings.hooks.path);
  if (request === undefined) return { isSame: exchange.status >= 400 };
  const evaluation = await generation.evaluate(request, 'full');
  const status = statusOf(evaluation);
  return { request, evaluation, status, isSame: isAlike(status, exchange.status) };
}

/** The request as the service would have it; undefined outside the hooks, and where the body cannot be read. */
function requestOf({ method, url, headers, body }: ShadowedExchange, base: string): HookRequest | undefined {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  if (method !== 'POST' || body === undefined || !pathname.startsWith(`${base}/`)) return undefined;
  searchParams.delete('token');
  const payload = readJson(body);
  if (payload === undefined) return undefined;
  const rest = searchParams.toString();
  const seen = createHookRequest({
    path: pathname.slice(base.length),
    payload,
    receivedAt: Date.now(),
    headers,
    query: queryOf(searchParams),
    url: rest === '' ? pathname : `${pathname}?${rest}`,
  });
  return { ...seen, id: randomUUID() };
}

function queryOf(parameters: URLSearchParams): Readonly<Record<string, string>> {
  const names = [...new Set(parameters.keys())];
  return Object.fromEntries(names.map((name) => [name, parameters.getAll(name).join(', ')]));
}

/** An empty body is an empty object; undefined where it is no JSON. */
function readJson(body: Uint8Array): JsonValue | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return text.trim() === '' ? {} : parseJson(text);
  } catch {
    return undefined;
  }
}

function statusOf({ outcome }: Evaluation): number {
  if (outcome.kind === 'rejected') return outcome.error.status;
  if (outcome.kind === 'skipped') return 204;
  return outcome.actions.every(({ kind }) => kind === 'wake') ? 200 : 202;
}

/** An OpenClaw gateway answers 200 where this side answers 202: both took the request. */
function isAlike(ours: number, theirs: number): boolean {
  const taken = (status: number): number => (status === 202 ? 200 : status);
  return taken(ours) === taken(theirs);
}

function formatSeen(
  exchange: ShadowedExchange,
  { evaluation, request, status, isSame }: Seen,
  color: boolean,
): string {
  const path = exchange.url.split('?', 1)[0] ?? '';
  const ours = status === undefined ? 'does not take it' : String(status);
  const head = `${isSame ? 'alike    ' : 'DIFFERENT'}  ${exchange.method} ${path}  there ${String(exchange.status)}, here ${ours}`;
  const said = isSame ? '' : `\n  there: ${exchange.answer.toString('utf8').slice(0, 200)}`;
  const shown =
    evaluation === undefined || request === undefined
      ? ''
      : `\n${formatEvaluation(evaluation, { request, color })}`;
  return clearControl(head + said) + shown;
}
