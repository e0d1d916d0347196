/*
 * Turns taken by a coding agent's own command line: claude, codex, gemini, opencode.
 *
 * The conversation is the agent's: it keeps what it did in earlier turns, which a list of texts could not hold. Some
 * take the name that Sluice gives a conversation; the others name it themselves, and the name is kept in a file. A
 * conversation that the agent does not know (any more) is begun anew. A turn that ended before the model answered,
 * because the login has expired or a limit is reached, has not begun: it waits. Every other failure is the run's.
 */
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RunnerSettings } from '../../engine/config/config.ts';
import { defined } from '../../base/json.ts';
import { describe } from '../../base/outgoing/outgoing.ts';
import { writeSecretFile } from '../../base/write-file.ts';
import {
  AGENT_PROFILES,
  type AgentProfile,
  type AgentSession,
  type Permission,
  whyNotNow,
} from './agent-profiles.ts';
import type { AgentReport } from './agent-reports.ts';
import { diskText } from './start-failure.ts';
import { withoutSecrets } from '../../base/telemetry/telemetry.ts';
import {
  type CommandSettings,
  type CommandSurroundings,
  createCommandRunner,
  type HostEnvironment,
  secretsOf,
} from './command-runner.ts';
import {
  type CompletedTurn,
  failedTurn,
  notStarted,
  type Runner,
  type RunnerOptions,
  type Turn,
  type TurnResult,
} from './runner.ts';

export type AgentSettings = Extract<RunnerSettings, { readonly kind: 'agent' }>;

/** The names that an agent may give a conversation, as they become an argument later. */
const SESSION_NAME = /^\w[\w.-]{0,199}$/;
const BEGUN_ANEW =
  'did not find its conversation here and began it anew: it knows nothing of the turns before';
/** Reports have more than the reply: events, statistics, calls of tools. */
const REPORT_BYTES = 16_777_216;

export function createAgentRunner(
  settings: AgentSettings,
  host: HostEnvironment,
  surroundings: CommandSurroundings = {},
): Runner {
  return {
    kind: settings.agent,
    run: (turn, options) => new AgentTurn({ settings, host, turn, options, surroundings }).take(),
  };
}

interface AgentTurnParts {
  readonly settings: AgentSettings;
  readonly host: HostEnvironment;
  readonly turn: Turn;
  readonly options: RunnerOptions;
  readonly surroundings: CommandSurroundings;
}

class AgentTurn {
  readonly #parts: AgentTurnParts;
  readonly #profile: AgentProfile;

  constructor(parts: AgentTurnParts) {
    this.#parts = parts;
    this.#profile = AGENT_PROFILES[parts.settings.agent];
  }

  async take(): Promise<TurnResult> {
    const { timeoutSeconds } = this.#parts.turn;
    const endsAt = performance.now() + timeoutSeconds * 1000;
    const session = await this.#findSession();
    const first = await this.#run(session, timeoutSeconds);
    const other = otherSession(session, first, this.#profile);
    // The second try has the time that the first one left. It is rounded, because the agent and people read it.
    const leftSeconds = Math.max(Math.ceil((endsAt - performance.now()) / 100) / 10, 0.1);
    const result = other === undefined ? first : await this.#run({ ...session, ...other }, leftSeconds);
    if (result.kind !== 'completed') return result;
    if (isCutOff(result)) {
      const usage = this.#profile.read(result.reply)?.usage;
      return withUnknownCost({ ...result, reply: '', ...defined({ usage }) }, this.#profile);
    }
    const report = this.#withoutSecrets(
      this.#profile.read(result.reply) ?? this.#profile.read(result.error?.message ?? ''),
    );
    const unkept = report?.sessionId === undefined ? undefined : await this.#keepSession(report.sessionId);
    const { isNew } = { ...session, ...other };
    const isBegunAnew = isNew && !session.isOneShot && this.#parts.turn.history.length > 0;
    const ended = notNow(report, this.#parts.settings) ?? resultOf(result, report, this.#parts.settings);
    const priced = withUnknownCost(ended, this.#profile);
    const note = isBegunAnew ? `${basename(this.#parts.settings.command)} ${BEGUN_ANEW}` : unkept;
    return note !== undefined && priced.kind === 'completed' && priced.outcome === 'ok'
      ? { ...priced, note }
      : priced;
  }

  async #findSession(): Promise<AgentSession> {
    const isOneShot = this.#parts.turn.isOneShot === true;
    if (this.#profile.namesSessions) {
      return { id: this.#parts.turn.sessionId, isNew: this.#parts.turn.history.length === 0, isOneShot };
    }
    const id = isOneShot ? undefined : await readFile(this.#sessionFile(), 'utf8').catch(() => undefined);
    const isName = id !== undefined && SESSION_NAME.test(id);
    return { isNew: !isName, isOneShot, ...(isName ? { id } : {}) };
  }

  /** Keeps the name; resolves to why that failed, which changes nothing for the reply. */
  async #keepSession(id: string): Promise<string | undefined> {
    if (this.#profile.namesSessions || this.#parts.turn.isOneShot === true || !SESSION_NAME.test(id))
      return undefined;
    const file = this.#sessionFile();
    try {
      await writeSecretFile(file, id);
      return undefined;
    } catch (error) {
      return `the next turn will not find this conversation, as its name could not be kept: ${diskText(error, dirname(file))}`;
    }
  }

  #withoutSecrets(report: AgentReport | undefined): AgentReport | undefined {
    if (report?.error === undefined) return report;
    const secrets = [
      ...(this.#parts.surroundings.secrets ?? []),
      ...secretsOf({ ...this.#parts.host, ...this.#parts.settings.env }),
    ];
    const hide = (text: string): string => withoutSecrets(text, secrets, 'text');
    return { ...report, error: hide(report.error), reply: hide(report.reply) };
  }

  #sessionFile(): string {
    return join(this.#parts.settings.sessions, this.#parts.turn.sessionId);
  }

  #run(session: AgentSession, timeoutSeconds: number): Promise<TurnResult> {
    const { access, argv } = this.#parts.settings;
    const permission: Permission = this.#profile.access[access];
    const { model, thinking } = this.#parts.turn;
    const options = this.#profile.argv({ session, model, thinking, extra: [...permission.argv, ...argv] });
    const runner = createCommandRunner(
      commandOf(this.#parts.settings, { options, env: permission.env, variables: this.#profile.variables }),
      this.#parts.host,
      { ...this.#parts.surroundings, keepsPart: true },
    );
    return runner.run({ ...this.#parts.turn, timeoutSeconds }, this.#parts.options);
  }
}

/** The command of a turn: the agent with its options, variables and permission. */
function commandOf(
  { command, agent: _agent, sessions: _sessions, model: _model, access: _access, ...settings }: AgentSettings,
  { options, env, variables }: AgentCall,
): CommandSettings {
  return {
    ...settings,
    kind: 'command',
    argv: [command, ...options],
    env: { ...env, ...settings.env },
    prompt: 'stdin',
    passEnv: [...variables, ...settings.passEnv],
    retryExitCodes: [],
    maxReplyBytes: settings.maxReplyBytes + REPORT_BYTES,
  };
}

interface AgentCall {
  readonly options: readonly string[];
  readonly env: Permission['env'];
  readonly variables: readonly string[];
}

/** The other way to begin, where the agent says that it lacks the conversation, or has it already. */
function otherSession(
  { isNew, isOneShot }: AgentSession,
  result: TurnResult,
  profile: AgentProfile,
): { readonly isNew: boolean } | undefined {
  if (result.kind !== 'completed' || result.outcome !== 'error' || isOneShot || isCutOff(result))
    return undefined;
  const said = `${result.error?.message ?? ''}\n${result.reply}`;
  if (!isNew && profile.unknownSession.test(said)) return { isNew: true };
  return isNew && profile.knownSession?.test(said) === true ? { isNew: false } : undefined;
}

/**
 * Why the agent can take no turn at present, where it had not begun this one. Words count only in the agent's own
 * error, never in a reply.
 */
function notNow(
  report: AgentReport | undefined,
  { agent, command, access }: AgentSettings,
): TurnResult | undefined {
  const said = report?.error;
  // An agent that does not report what it did has done nothing only where it can do nothing.
  if (said === undefined || (report?.hasActed ?? access !== 'read')) return undefined;
  const why = whyNotNow(said, report?.status);
  if (why === undefined) return undefined;
  const isLoggedOut = why === 'logged-out';
  const { login } = AGENT_PROFILES[agent];
  const remedy = isLoggedOut
    ? `; log it in again as the user of the service (${login}), or mend its key`
    : '';
  const message = `${basename(command)}: ${describe(said, []) ?? ''}${remedy}`;
  return isLoggedOut
    ? notStarted('login_needed', message, { affects: 'runner' })
    : notStarted('limit_reached', message, { affects: 'model' });
}

/** Whether a turn was ended before its agent had reported all. */
const isCutOff = ({ error }: CompletedTurn): boolean =>
  /^(?:timeout|interrupted|reply_too_large)$/.test(error?.code ?? '');

/** The end of the first line of the error of a turn whose cost is not known. */
export const COST_UNKNOWN = '; what it cost is not known';

/** Marks the cost as unknown, not as zero, where an agent that reports costs has reported none of this turn. */
function withUnknownCost(result: TurnResult, { tellsMoney }: AgentProfile): TurnResult {
  if (result.kind !== 'completed' || !tellsMoney || result.usage?.costUsd !== undefined) return result;
  const { error, usage } = result;
  // What a program wrote stands below the first line.
  const said = error && { ...error, message: error.message.replace(/$/m, COST_UNKNOWN) };
  return { ...result, ...defined({ error: said }), usage: { ...usage, isCostUnknown: true } };
}

function resultOf(
  result: CompletedTurn,
  report: AgentReport | undefined,
  settings: AgentSettings,
): TurnResult {
  const name = basename(settings.command);
  if (report === undefined) {
    if (result.outcome !== 'ok') return { ...result, reply: '' };
    return failedTurn('malformed_answer', `${name} printed something else than its report`);
  }
  const usage = report.usage === undefined ? {} : { usage: report.usage };
  if (report.error !== undefined) {
    const said = describe(report.error, []) ?? 'no reason';
    return { ...failedTurn('agent_error', `${name}: ${said}`), reply: report.reply, ...usage };
  }
  if (Buffer.byteLength(report.reply) > settings.maxReplyBytes) {
    const problem = `${name} replied with over ${settings.maxReplyBytes} bytes`;
    return { ...failedTurn('reply_too_large', problem), ...usage };
  }
  return { ...result, reply: report.reply.trim(), ...usage };
}
