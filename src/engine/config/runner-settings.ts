import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Models } from './models.ts';
import type { AgentKind, RunnerFile } from './runner-schema.ts';
import type { RunnerSettings } from './settings.ts';

/** A runner's name, and what its settings are resolved with. */
export interface NamedContext {
  readonly name: string;
  /** Directory of the file. */
  readonly directory: string;
  /** The service's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly models: Models;
}

/** A runner as it works: with its folders, and models by their full names. */
export function runnerSettings(runner: RunnerFile, context: NamedContext): RunnerSettings {
  switch (runner.kind) {
    case 'echo':
    case 'openclaw':
    case 'forward':
      return runner;
    case 'command':
      return commandSettings(runner, context);
    case 'claude':
    case 'codex':
    case 'gemini':
    case 'opencode':
      return agentSettings(runner, context);
    case 'model':
      return modelSettings(runner, context.models);
  }
}

type RunnerOf<Kind extends RunnerFile['kind']> = Extract<RunnerFile, { kind: Kind }>;
type SettingsOf<Kind extends RunnerSettings['kind']> = Extract<RunnerSettings, { kind: Kind }>;

function commandSettings(runner: RunnerOf<'command'>, context: NamedContext): SettingsOf<'command'> {
  const {
    argv: [file = '', ...args],
    cwd = '.',
    ...written
  } = runner;
  return {
    ...written,
    argv: [programPath(file, context.directory), ...args],
    ...resolvedModel(runner, context.models),
    // Without a word it stays where it always was; `check` says what is wrong with that.
    ...workingFolder(cwd, context),
  };
}

function agentSettings(runner: RunnerOf<AgentKind>, context: NamedContext): SettingsOf<'agent'> {
  const { kind: agent, command = agent, cwd = PRIVATE, ...written } = runner;
  return {
    ...written,
    kind: 'agent',
    agent,
    command: programPath(command, context.directory),
    sessions: stateFolder('sessions', context),
    ...resolvedModel(runner, context.models),
    ...workingFolder(cwd, context),
  };
}

function modelSettings(runner: RunnerOf<'model'>, models: Models): SettingsOf<'model'> {
  const providers = Object.entries(runner.providers).map(
    ([name, provider]) => [name, { reasoning: provider.kind !== 'openai-compatible', ...provider }] as const,
  );
  return { ...runner, ...resolvedModel(runner, models), providers: Object.fromEntries(providers) };
}

function resolvedModel({ model }: { readonly model?: string }, models: Models): { readonly model?: string } {
  return model === undefined ? {} : { model: models.resolve(model) };
}

/** `cwd` in the file: a private folder per conversation. */
const PRIVATE = 'private';

/** A program with a folder in its name is looked for from the configuration, wherever the command then works. */
function programPath(file: string, directory: string): string {
  return /^\.{1,2}\/|^[^/{]+\//.test(file) ? resolve(directory, file) : file;
}

function workingFolder(
  cwd: string,
  { directory, env, name }: NamedContext,
): { readonly cwd: string } | { readonly privateFolders: string } {
  if (cwd !== PRIVATE) return { cwd: resolve(directory, cwd) };
  return { privateFolders: stateFolder('work', { directory, env, name }) };
}

/** Where the service keeps things of this configuration, as for a runner: below `$XDG_STATE_HOME/sluice`. */
export function stateFolder(
  what: 'work' | 'sessions' | 'console' | 'store' | 'trust',
  { directory, env, name }: Omit<NamedContext, 'models'>,
): string {
  const given = env['XDG_STATE_HOME'] ?? '';
  // A relative path is to be ignored (XDG Base Directory Specification).
  const state = isAbsolute(given) ? given : join(env['HOME'] ?? homedir(), '.local/state');
  const service = createHash('sha256').update(directory).digest('hex').slice(0, 12);
  return join(state, 'sluice', what, service, name.replaceAll(/[^\w.-]|^\.+/g, '_'));
}
