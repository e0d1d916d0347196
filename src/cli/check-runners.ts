import { randomUUID } from 'node:crypto';
import { buildAgentPrompt } from '../boundary/boundary.ts';
import type { Settings } from '../config/config.ts';
import { defaultModelOf } from '../gateway/gateway.ts';
import { createRunners, type Runner, type Turn, type TurnResult } from '../runners/runners.ts';
import { clearControl } from '../telemetry/telemetry.ts';
import type { Cli } from './command-line.ts';
import { loadSettings, type ConfigFlags } from './config-file.ts';
import { CliError, formatSpan, formatTable } from './terminal.ts';

const PROMPT = 'Reply with the single word PONG and do nothing else.';
const MAX_REPLY_CHARS = 80;

interface RunnersFlags extends ConfigFlags {
  readonly json?: boolean;
  readonly timeout: number;
}

interface CheckedRunner {
  readonly runner: string;
  readonly kind: string;
  readonly ok: boolean;
  /** The reply, or code and reason. */
  readonly said: string;
  readonly tookMs: number;
}

/** Starts the runners, or those named, with a one-word prompt, and says what came back. */
export async function checkRunners(cli: Cli, names: readonly string[], flags: RunnersFlags): Promise<void> {
  const { settings } = await loadSettings(cli.terminal, flags, { needSecrets: true });
  const runners = createRunners(settings, cli.terminal.env);
  for (const name of names) {
    if (!runners.has(name))
      throw new CliError(
        `there is no runner ${JSON.stringify(name)}; the runners are: ${[...runners.keys()].join(', ')}`,
        2,
      );
  }
  const chosen = [...runners].filter(([name]) =>
    names.length === 0 ? name !== 'echo' : names.includes(name),
  );
  const rows: CheckedRunner[] = [];
  // One after the other: two agents at once would share the machine and the limits of their accounts.
  for (const [name, runner] of chosen) rows.push(await checkRunner(name, runner, { settings, flags }));
  print(cli, rows, flags);
  if (rows.some((row) => !row.ok)) cli.setExitCode(1);
}

async function checkRunner(
  name: string,
  runner: Runner,
  { settings, flags }: { readonly settings: Settings; readonly flags: RunnersFlags },
): Promise<CheckedRunner> {
  const startedAt = performance.now();
  const turn = makeTurn(
    defaultModelOf(settings.gateway.runners[name], settings.agents.defaults.model),
    flags.timeout,
  );
  const signal = AbortSignal.timeout(flags.timeout * 1000 + 5_000);
  const result = await runner.run(turn, { signal, onProcess: async () => {} });
  const ok = result.kind === 'completed' && result.outcome === 'ok';
  const tookMs = Math.round(performance.now() - startedAt);
  return { runner: name, kind: runner.kind, ok, said: saidBy(result), tookMs };
}

function makeTurn(model: string | undefined, timeoutSeconds: number): Turn {
  const id = randomUUID();
  const origin = { requestId: id, path: 'check', trusted: true };
  return {
    runId: id,
    kind: 'hook',
    attempt: 1,
    sessionKey: `check:${id}`,
    sessionId: id,
    name: 'Check',
    prompt: buildAgentPrompt({ message: PROMPT, origin, nonce: id }),
    message: PROMPT,
    ...(model === undefined ? {} : { model }),
    timeoutSeconds,
    isOneShot: true,
    history: [],
  };
}

function saidBy(result: TurnResult): string {
  if (result.kind === 'completed' && result.outcome === 'ok') {
    const reply = result.reply.trim();
    return reply.length > MAX_REPLY_CHARS ? `${reply.slice(0, MAX_REPLY_CHARS - 1)}…` : reply;
  }
  const error = result.kind === 'completed' ? result.error : result;
  if (error === undefined) return 'failed without a reason';
  // Whoever checks sees the command's own words too, which summaries leave out.
  return `${error.code}: ${error.message}`;
}

function print(cli: Cli, rows: readonly CheckedRunner[], { json }: RunnersFlags): void {
  if (json === true) {
    cli.terminal.out(JSON.stringify(rows));
    return;
  }
  if (rows.length === 0) {
    cli.terminal.out('no runner but echo is configured: no agent runs');
    return;
  }
  const cells = rows.map(({ runner, kind, ok, said, tookMs }) => [
    runner,
    kind,
    ok ? 'ok' : 'failed',
    formatSpan(tookMs),
    clearControl(said.replaceAll('\n', ' '), { oneLine: true }),
  ]);
  cli.terminal.out(formatTable(['runner', 'kind', 'state', 'took', ''], cells));
}
