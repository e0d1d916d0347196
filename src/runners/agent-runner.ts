/*
 * Turns taken by a coding agent's own command line: claude, codex, gemini, opencode.
 *
 * The conversation is the agent's: it keeps what it did in earlier turns, which a list of texts could not hold. Some
 * take the name that Sluice gives a conversation; the others name it themselves, and the name is kept in a file. A
 * conversation that the agent does not know (any more) is begun anew; every other failure is the run's.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RunnerSettings } from '../config/config.ts';
import { describe } from '../outgoing/outgoing.ts';
import {
  AGENT_PROFILES,
  type AgentProfile,
  type AgentReport,
  type AgentSession,
  type Permission,
} from './agent-profiles.ts';
import { type CommandSettings, createCommandRunner, type HostEnvironment } from './command-runner.ts';
import { failedTurn, type Runner, type RunnerOptions, type Turn, type TurnResult } from './runner.ts';

export type AgentSettings = Extract<RunnerSettings, { readonly kind: 'agent' }>;
type Completed = Extract<TurnResult, { readonly kind: 'completed' }>;

/** What an agent may call a conversation: it becomes an argument later. */
const SESSION_NAME = /^\w[\w.-]{0,199}$/;
/** Reports hold more than the reply: events, statistics, what tools were asked. */
const REPORT_BYTES = 16_777_216;

export function createAgentRunner(settings: AgentSettings, host: HostEnvironment): Runner {
  return {
    kind: settings.agent,
    run: (turn, options) => new AgentTurn({ settings, host, turn, options }).take(),
  };
}

interface AgentTurnParts {
  readonly settings: AgentSettings;
  readonly host: HostEnvironment;
  readonly turn: Turn;
  readonly options: RunnerOptions;
}

class AgentTurn {
  readonly #settings: AgentSettings;
  readonly #host: HostEnvironment;
  readonly #turn: Turn;
  readonly #options: RunnerOptions;
  readonly #profile: AgentProfile;
  readonly #endsAt: number;

  constructor({ settings, host, turn, options }: AgentTurnParts) {
    this.#settings = settings;
    this.#host = host;
    this.#turn = turn;
    this.#options = options;
    this.#profile = AGENT_PROFILES[settings.agent];
    this.#endsAt = performance.now() + turn.timeoutSeconds * 1000;
  }

  async take(): Promise<TurnResult> {
    const session = await this.#findSession();
    const first = await this.#run(session);
    const other = otherSession(session, first, this.#profile);
    const result = other === undefined ? first : await this.#run({ ...session, ...other });
    if (result.kind !== 'completed') return result;
    const report = this.#profile.read(result.reply);
    if (report?.sessionId !== undefined) await this.#keepSession(report.sessionId);
    return resultOf(result, report, this.#settings);
  }

  /** What is known of the conversation before the agent was asked. */
  async #findSession(): Promise<AgentSession> {
    const isOneShot = this.#turn.isOneShot === true;
    if (this.#profile.namesSessions) {
      return { id: this.#turn.sessionId, isNew: this.#turn.history.length === 0, isOneShot };
    }
    const id = isOneShot ? undefined : await readFile(this.#sessionFile(), 'utf8').catch(() => undefined);
    const isName = id !== undefined && SESSION_NAME.test(id);
    return { isNew: !isName, isOneShot, ...(isName ? { id } : {}) };
  }

  async #keepSession(id: string): Promise<void> {
    if (this.#profile.namesSessions || this.#turn.isOneShot === true || !SESSION_NAME.test(id)) return;
    const file = this.#sessionFile();
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    // Whole or not at all: the service may be killed while it writes.
    await writeFile(`${file}.new`, id, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }

  #sessionFile(): string {
    return join(this.#settings.sessions, this.#turn.sessionId);
  }

  #run(session: AgentSession): Promise<TurnResult> {
    const { access, argv } = this.#settings;
    const permission: Permission = this.#profile.access[access];
    const { model, thinking } = this.#turn;
    const options = this.#profile.argv({ session, model, thinking, extra: [...permission.argv, ...argv] });
    const runner = createCommandRunner(
      commandOf(this.#settings, { options, env: permission.env, variables: this.#profile.variables }),
      this.#host,
    );
    const timeoutSeconds = Math.max((this.#endsAt - performance.now()) / 1000, 0.001);
    return runner.run({ ...this.#turn, timeoutSeconds }, this.#options);
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
  if (result.kind !== 'completed' || result.outcome !== 'error' || isOneShot) return undefined;
  const said = `${result.error?.message ?? ''}\n${result.reply}`;
  if (!isNew && profile.unknownSession.test(said)) return { isNew: true };
  return isNew && profile.knownSession?.test(said) === true ? { isNew: false } : undefined;
}

function resultOf(result: Completed, report: AgentReport | undefined, settings: AgentSettings): TurnResult {
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
    return failedTurn('reply_too_large', `${name} replied with over ${settings.maxReplyBytes} bytes`);
  }
  return { ...result, reply: report.reply.trim(), ...usage };
}
