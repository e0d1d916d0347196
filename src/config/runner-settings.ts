import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { defined } from '../json.ts';
import type { Models } from './models.ts';
import type { AgentKind, RunnerFile } from './runner-schema.ts';
import type { ProviderSettings, RunnerSettings } from './settings.ts';

/** A runner's name, and what its settings are resolved with. */
interface Named {
  readonly name: string;
  /** Directory of the file. */
  readonly directory: string;
  /** The service's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly models: Models;
}

/** A runner as it works: with its folders, and models by their full names. */
export function runnerSettings(runner: RunnerFile, context: Named): RunnerSettings {
  const limits = runner.maxRuns === undefined ? {} : { maxRuns: runner.maxRuns };
  switch (runner.kind) {
    case 'echo':
      return { kind: 'echo', ...limits };
    case 'command':
      return { ...commandSettings(runner, context), ...limits };
    case 'claude':
    case 'codex':
    case 'gemini':
    case 'opencode':
      return { ...agentSettings(runner, context), ...limits };
    case 'model':
      return { ...modelSettings(runner, context.models), ...limits };
    case 'openclaw':
      return { ...openClawSettings(runner), ...limits };
    case 'forward': {
      const { kind, url, token, forwardSummaries } = runner;
      return { kind, url, token, forwardSummaries, ...limits };
    }
  }
}

function openClawSettings({
  kind,
  command,
  agent,
  hooks,
  passEnv,
  maxReplyBytes,
}: RunnerOf<'openclaw'>): SettingsOf<'openclaw'> {
  return { kind, command, passEnv, maxReplyBytes, ...defined({ agent, hooks }) };
}

type RunnerOf<Kind extends RunnerFile['kind']> = Extract<RunnerFile, { kind: Kind }>;
type SettingsOf<Kind extends RunnerSettings['kind']> = Extract<RunnerSettings, { kind: Kind }>;

function commandSettings(runner: RunnerOf<'command'>, context: Named): SettingsOf<'command'> {
  const { argv, prompt, env, passEnv, retryExitCodes, maxReplyBytes, replyPath, model } = runner;
  const [file = '', ...args] = argv;
  return {
    kind: 'command',
    argv: [programPath(file, context.directory), ...args],
    prompt,
    env,
    passEnv,
    retryExitCodes,
    maxReplyBytes,
    ...(replyPath === undefined ? {} : { replyPath }),
    ...(model === undefined ? {} : { model: context.models.resolve(model) }),
    // Without a word it stays where it always was; `check` says what is wrong with that.
    ...workingFolder(runner.cwd ?? '.', context),
  };
}

function agentSettings(runner: RunnerOf<AgentKind>, context: Named): SettingsOf<'agent'> {
  const { kind, access, argv, env, passEnv, maxReplyBytes, model } = runner;
  return {
    kind: 'agent',
    agent: kind,
    command: programPath(runner.command ?? kind, context.directory),
    sessions: stateFolder('sessions', context),
    access,
    argv,
    env,
    passEnv,
    maxReplyBytes,
    ...(model === undefined ? {} : { model: context.models.resolve(model) }),
    ...workingFolder(runner.cwd ?? PRIVATE, context),
  };
}

function modelSettings(runner: RunnerOf<'model'>, models: Models): SettingsOf<'model'> {
  const { system, maxOutputTokens, model } = runner;
  const providers = Object.entries(runner.providers).map(
    ([name, provider]) => [name, providerSettings(provider)] as const,
  );
  return {
    kind: 'model',
    providers: Object.fromEntries(providers),
    ...(model === undefined ? {} : { model: models.resolve(model) }),
    ...defined({ system, maxOutputTokens }),
  };
}

/** `cwd` in the file: a private folder per conversation. */
const PRIVATE = 'private';

/** A program with a folder in its name is looked for from the configuration, wherever the command then works. */
function programPath(file: string, directory: string): string {
  return /^\.{1,2}\/|^[^/{]+\//.test(file) ? resolve(directory, file) : file;
}

function workingFolder(
  cwd: string,
  { directory, env, name }: Named,
): { readonly cwd: string } | { readonly privateFolders: string } {
  if (cwd !== PRIVATE) return { cwd: resolve(directory, cwd) };
  return { privateFolders: stateFolder('work', { directory, env, name }) };
}

/** Where the service keeps things of this configuration, as for a runner: below `$XDG_STATE_HOME/sluice`. */
export function stateFolder(
  what: 'work' | 'sessions' | 'console',
  { directory, env, name }: Omit<Named, 'models'>,
): string {
  const given = env['XDG_STATE_HOME'] ?? '';
  // A relative path is to be ignored (XDG Base Directory Specification).
  const state = isAbsolute(given) ? given : join(env['HOME'] ?? homedir(), '.local/state');
  const service = createHash('sha256').update(directory).digest('hex').slice(0, 12);
  return join(state, 'sluice', what, service, name.replaceAll(/[^\w.-]|^\.+/g, '_'));
}

type ProviderFile = RunnerOf<'model'>['providers'][string];

function providerSettings({ kind, baseUrl, apiKey, reasoning }: ProviderFile): ProviderSettings {
  return {
    kind,
    reasoning: reasoning ?? kind !== 'openai-compatible',
    ...defined({ baseUrl, apiKey }),
  };
}
