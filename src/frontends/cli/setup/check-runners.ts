import { randomUUID } from 'node:crypto';
import { shorten } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import { buildAgentPrompt } from '../../../base/boundary/boundary.ts';
import type { Settings } from '../../../engine/config/config.ts';
import { defaultModelOf } from '../../../service/gateway/gateway.ts';
import { createRunners, type Runner, type Turn, type TurnResult } from '../../../service/runners/runners.ts';
import { formatSpan } from '../../../base/telemetry/telemetry.ts';
import type { Cli } from '../command-line.ts';
import { loadSettings, type JsonFlags } from '../config-file.ts';
import { printJson, type CheckedRunner } from '../json.ts';
import { type Column, formatRows } from '../operating/listings.ts';
import { explainStart } from '../lazy-advice.ts';
import { withStore } from '../operating/store-tasks.ts';
import type { ListedWorker, StorageError } from '../../../engine/storage/storage.ts';
import { CliError } from '../terminal.ts';
import { addRunner, type AddRunnerFlags } from './add-runner.ts';
import { proveWrite, type ProofOptions, type WriteProof } from './write-proof.ts';

const PROMPT = 'Reply with the single word PONG and do nothing else.';
const MAX_REPLY_CHARS = 80;

interface RunnersFlags extends JsonFlags {
  readonly timeout: number;
}

/** `check [names...]`, where "check" may be left out, or `add NAME --worker`. */
export function runners(
  cli: Cli,
  action: string | undefined,
  names: readonly string[],
  flags: RunnersFlags & AddRunnerFlags,
): Promise<void> {
  if (action === 'add') return addRunner(cli.terminal, names, flags);
  return checkRunners(cli, action === undefined || action === 'check' ? names : [action, ...names], flags);
}

/** Starts the runners, or those named, with a one-word prompt, and says what came back. */
async function checkRunners(cli: Cli, names: readonly string[], flags: RunnersFlags): Promise<void> {
  const { settings } = await loadSettings(cli.terminal, flags, { needSecrets: true });
  const made = createRunners(settings, cli.terminal.env, { explainStart });
  const chosen = chooseRunners(made, names);
  const isOfWorkers = chosen.some(([name]) => settings.gateway.runners[name]?.kind === 'worker');
  const workers = isOfWorkers ? await listWorkers(cli, flags) : [];
  const rows: CheckedRunner[] = [];
  // Runners are checked one after the other: two agents at once would share the machine and the limits of
  // their accounts.
  for (const [name, runner] of chosen)
    rows.push(await checkRunner(name, runner, { settings, flags, workers, env: cli.terminal.env }));
  const none = 'no runner but echo is configured: no agent runs';
  if (flags.json === true) printJson(cli.terminal, 'runners check', { runners: rows });
  else cli.terminal.out(rows.length === 0 ? none : formatRows(COLUMNS, rows));
  if (rows.some(({ ok, write }) => !ok || write?.kind === 'wrote')) cli.setExitCode(1);
}

async function listWorkers(cli: Cli, flags: RunnersFlags): Promise<readonly ListedWorker[]> {
  try {
    return await withStore(cli, flags, (storage, { settings }) =>
      storage.listWorkers(settings.gateway.runner),
    );
  } catch (error) {
    // Before the first start of a service nobody can have asked.
    if ((error as StorageError).code === 'not_found') return [];
    throw error;
  }
}

function chooseRunners(
  runners: ReadonlyMap<string, Runner>,
  names: readonly string[],
): readonly (readonly [string, Runner])[] {
  for (const name of names) {
    if (runners.has(name)) continue;
    const known = [...runners.keys()].join(', ');
    throw new CliError(`there is no runner ${JSON.stringify(name)}; the runners are: ${known}`, 2);
  }
  return [...runners].filter(([name]) => (names.length === 0 ? name !== 'echo' : names.includes(name)));
}

interface CheckContext {
  readonly settings: Settings;
  readonly flags: RunnersFlags;
  readonly env: NodeJS.ProcessEnv;
  readonly workers: readonly ListedWorker[];
}

async function checkRunner(
  name: string,
  runner: Runner,
  { settings, flags, env, workers }: CheckContext,
): Promise<CheckedRunner> {
  const own = settings.gateway.runners[name];
  if (own?.kind === 'worker') return checkWorkers(name, workers);
  const model = defaultModelOf(own, settings.agents.defaults.model);
  const takeTurn = turnTaker(model, flags.timeout);
  const startedAt = performance.now();
  const result = await takeTurn(runner, { message: PROMPT, isOneShot: true });
  const tookMs = Math.round(performance.now() - startedAt);
  const ok = result.kind === 'completed' && result.outcome === 'ok';
  const checked = { runner: name, kind: runner.kind, ok, said: saidBy(result), tookMs };
  if (!ok || own?.kind !== 'agent') return checked;
  return { ...checked, write: await proveWrite(own, { env, takeTurn }) };
}

/** Workers that were heard of within this time are there. */
const THERE_MS = 300_000;

/** Nothing is started: says who has asked for runs of the runner, and when last. */
function checkWorkers(name: string, workers: readonly ListedWorker[]): CheckedRunner {
  const own = workers.filter(({ runner }) => runner === name);
  const said = own.map(
    ({ name: worker, seenAt, runs }) =>
      `${worker}, last heard of ${formatSpan(Date.now() - seenAt)} ago${runs === 0 ? '' : `, ${runs} under way`}`,
  );
  const ok = own.some(({ seenAt }) => Date.now() - seenAt < THERE_MS);
  return { runner: name, kind: 'worker', ok, said: said.join('; ') || 'no worker has asked yet', tookMs: 0 };
}

/** A runner ends its turn in time; otherwise the signal ends it some seconds later. */
function turnTaker(model: string | undefined, timeoutSeconds: number): ProofOptions['takeTurn'] {
  return async (runner, { message, ...parts }) => {
    const id = randomUUID();
    const origin = { requestId: id, path: 'check', trusted: true };
    // The turn has no conversation before it.
    const turn: Turn = {
      kind: 'hook',
      attempt: 1,
      name: 'Check',
      history: [],
      runId: id,
      sessionKey: `check:${id}`,
      sessionId: id,
      prompt: buildAgentPrompt({ message, origin, nonce: id }),
      message,
      ...defined({ model }),
      timeoutSeconds,
      ...parts,
    };
    const signal = AbortSignal.timeout(timeoutSeconds * 1000 + 5_000);
    return runner.run(turn, { signal, onProcess: async () => {} });
  };
}

function saidBy(result: TurnResult): string {
  if (result.kind === 'completed' && result.outcome === 'ok')
    return shorten(result.reply.trim(), MAX_REPLY_CHARS);
  const error = result.kind === 'completed' ? result.error : result;
  if (error === undefined) return 'failed without a reason';
  // The person who checks sees the command's own words, which summaries leave out.
  return `${error.code}: ${error.message}`;
}

const COLUMNS: readonly Column<CheckedRunner>[] = [
  ['runner', ({ runner }) => runner],
  ['kind', ({ kind }) => kind],
  ['state', ({ ok }) => (ok ? 'ok' : 'failed')],
  ['took', ({ tookMs }) => formatSpan(tookMs)],
  ['writing', ({ write }) => (write === undefined ? '' : describeWrite(write))],
  ['', ({ said }) => said.replaceAll('\n', ' ')],
];

function describeWrite(proof: WriteProof): string {
  switch (proof.kind) {
    case 'refused':
      return 'refused (tried)';
    case 'allowed':
      return `allowed (access: ${proof.access})`;
    case 'wrote':
      return 'NOT REFUSED: it wrote a file, although its access is read';
    case 'unproved':
      return `not proved: ${proof.why}`;
  }
}
