/*
 * Turns taken by an OpenClaw gateway's own agents.
 *
 * A hook's turn goes through its command (`openclaw agent`), which returns the reply, so that delivery, summary and
 * conversation stay here: the session id follows the session key. OpenClaw takes the turns of the main session: the
 * events go to its main session through its `/hooks/wake`, and the person's own chat shows them. So that session knows
 * where the person was last, and is asked where a reply to `last` goes.
 */
import { LAST_CHANNEL, type DeliveryTarget } from '../../base/action.ts';
import type { RunnerSettings } from '../../engine/config/config.ts';
import { defined, readJson } from '../../base/json.ts';
import {
  connectionCode,
  connectionText,
  describe,
  fetchJson,
  field,
  listField,
  StatusError,
  textField,
} from '../../base/outgoing/outgoing.ts';
import { withoutSecrets } from '../../base/telemetry/telemetry.ts';
import { HEARTBEAT_OK, isAcknowledgement } from './acknowledgement.ts';
import {
  createCommandRunner,
  type CommandSettings,
  type CommandSurroundings,
  type HostEnvironment,
  secretsOf,
} from './command-runner.ts';
import {
  failedTurn,
  notStarted,
  type Runner,
  type RunnerOptions,
  type Turn,
  type TurnResult,
} from './runner.ts';

export type OpenClawSettings = Extract<RunnerSettings, { readonly kind: 'openclaw' }>;

/** Variables by which the command finds its gateway, its state and its configuration. */
const PASSED = [
  'OPENCLAW_STATE_DIR',
  'OPENCLAW_CONFIG_PATH',
  'OPENCLAW_GATEWAY_TOKEN',
  'OPENCLAW_GATEWAY_PASSWORD',
];
/** The command wraps the reply in a report of some kilobytes. */
const REPORT_BYTES = 1_048_576;
/** The command needs seconds to start, and its gateway answers at once. */
const QUESTION_SECONDS = 20;
/** A wake is only a queue entry there, no turn. */
const WAKE_TIMEOUT_MS = 30_000;

export function createOpenClawRunner(
  settings: OpenClawSettings,
  host: HostEnvironment,
  surroundings: CommandSurroundings = {},
): Runner {
  const own = settings.agent === undefined ? [] : ['--agent', settings.agent];
  const argv = ['agent', '--json', ...own, ...TURN_OPTIONS.flat()];
  const whole = commandOf(settings, argv, settings.maxReplyBytes + REPORT_BYTES);
  const command = createCommandRunner(whole, host, surroundings);
  const question = createCommandRunner(questionOf(settings), host, surroundings);
  const secrets = [...(surroundings.secrets ?? []), ...secretsOf(host)];
  return {
    kind: 'openclaw',
    run: async (turn, options) => {
      if (turn.kind === 'heartbeat') return wakeOpenClaw(settings, turn, options);
      const timeoutSeconds = Math.ceil(turn.timeoutSeconds);
      const result = readReport(await command.run({ ...turn, timeoutSeconds }, options), secrets);
      const isDelivered =
        result.kind === 'completed' && result.outcome === 'ok' && !isAcknowledgement(result.reply);
      if (!isDelivered || turn.deliverTo?.channel !== LAST_CHANNEL) return result;
      const answer = await question.run({ ...turn, timeoutSeconds: QUESTION_SECONDS }, options);
      return { ...result, ...defined({ lastRoute: routeOf(answer) }) };
    },
  };
}

/** Options of the command; each is left out where the turn has no such value. */
const TURN_OPTIONS = [
  ['--session-id', '{session_id}'],
  ['--message-file', '{prompt_file}'],
  ['--timeout', '{timeout_seconds}'],
  ['--model', '{model}'],
  ['--thinking', '{thinking}'],
];

/** The command that asks the OpenClaw gateway for the main session of the agent. */
function questionOf(settings: OpenClawSettings): CommandSettings {
  const session = JSON.stringify({ key: 'main', ...defined({ agentId: settings.agent }) });
  const argv = ['gateway', 'call', 'sessions.describe', '--json', '--params', session];
  return commandOf(settings, argv, REPORT_BYTES);
}

/** The channel that the person used last; undefined where there was none yet, or no answer. */
function routeOf(answer: TurnResult): DeliveryTarget | undefined {
  if (answer.kind !== 'completed' || answer.outcome !== 'ok') return undefined;
  const session = field(readJson(answer.reply.slice(answer.reply.indexOf('{'))), 'session');
  const channel = textField(session, 'lastChannel');
  const to = textField(session, 'lastTo');
  if (channel === undefined || to === undefined) return undefined;
  const thread = field(session, 'lastThreadId');
  const isTopic = channel === 'telegram' && (typeof thread === 'number' || typeof thread === 'string');
  const topic = isTopic ? `:topic:${thread}` : '';
  return { channel, to: `${recipientOf(channel, to)}${topic}` };
}

/** `telegram:42`, `channel:C0123` and `user:U0123` in the words of channels here. */
function recipientOf(channel: string, to: string): string {
  const own = to.startsWith(`${channel}:`) ? to.slice(channel.length + 1) : to;
  return own.replace(channel === 'slack' ? /^(?:channel|user):/ : /^(?:channel|conversation):/, '');
}

function commandOf(
  { command, passEnv }: OpenClawSettings,
  argv: readonly string[],
  maxReplyBytes: number,
): CommandSettings {
  return {
    kind: 'command',
    argv: [command, ...argv],
    prompt: 'file',
    env: {},
    passEnv: [...PASSED, ...passEnv],
    retryExitCodes: [],
    maxReplyBytes,
  };
}

/** The reply, the outcome and the usage out of the command's JSON report; what is no report stays as it is. */
function readReport(result: TurnResult, secrets: readonly string[]): TurnResult {
  if (result.kind !== 'completed') return result;
  const { reply: printed } = result;
  const report = readJson(printed.slice(printed.indexOf('{')));
  const status = textField(report, 'status');
  if (status === undefined) {
    if (result.outcome !== 'ok') return { ...result, reply: '' };
    return failedTurn('malformed_answer', 'openclaw did not answer with its JSON report');
  }
  const reply = textsOf(report);
  const usage = usageOf(field(field(field(field(report, 'result'), 'meta'), 'agentMeta'), 'usage'));
  const done = { ...result, reply, ...(usage === undefined ? {} : { usage }) };
  if (status === 'ok') return done;
  if (status !== 'timeout') return { ...done, outcome: 'error', error: agentError(report, status, secrets) };
  const error = { code: 'timeout', message: 'openclaw ended the turn at its time limit' };
  return { ...done, outcome: 'timeout', error };
}

function agentError(
  report: unknown,
  status: string,
  secrets: readonly string[],
): { readonly code: string; readonly message: string } {
  const words = textField(field(report, 'error'), 'message') ?? textField(report, 'summary') ?? '';
  const said = describe(withoutSecrets(words, secrets, 'text'), []);
  const message = `openclaw ended the turn with ${status.slice(0, 40)}${said === undefined ? '' : `: ${said}`}`;
  return { code: 'agent_error', message };
}

/** The text of all parts of the reply. */
function textsOf(report: unknown): string {
  return listField(field(report, 'result'), 'payloads')
    .map((payload) => textField(payload, 'text') ?? '')
    .filter((text) => text !== '')
    .join('\n\n');
}

function usageOf(usage: unknown): { inputTokens: number; outputTokens: number } | undefined {
  const input = field(usage, 'input');
  const output = field(usage, 'output');
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  return { inputTokens: input, outputTokens: output };
}

/** Hands the events to the main session of OpenClaw. */
async function wakeOpenClaw(
  { hooks }: OpenClawSettings,
  turn: Turn,
  { signal }: RunnerOptions,
): Promise<TurnResult> {
  if (hooks === undefined)
    return notStarted(
      'not_configured',
      'this openclaw runner has no hooks.url and hooks.token, so events cannot be sent to the main session of OpenClaw',
    );
  try {
    const { status, body } = await fetchJson(`${hooks.url.replace(/(?<!\/)\/+$/, '')}/wake`, {
      headers: { authorization: `Bearer ${hooks.token}` },
      body: { text: turn.prompt, mode: 'now' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(WAKE_TIMEOUT_MS)]),
    });
    if (status >= 200 && status < 300) return { kind: 'completed', outcome: 'ok', reply: HEARTBEAT_OK };
    const said = describe(textField(body, 'error'), [hooks.token]);
    return notAccepted(`answered ${status}${said === undefined ? '' : `: ${said}`}`);
  } catch (error) {
    if (error instanceof StatusError) return notAccepted(`answered ${error.status}`);
    const connection = connectionCode(error);
    if (connection === undefined) return notAccepted('did not answer');
    return notAccepted(`cannot be reached (${connectionText(connection)})`, { affects: 'runner' });
  }
}

/** The result where it did not accept the wake: a repeat has the same text, which its queue takes once. */
const notAccepted = (what: string, more?: Parameters<typeof notStarted>[2]): TurnResult =>
  notStarted('unavailable', `the openclaw gateway ${what}`, more);
