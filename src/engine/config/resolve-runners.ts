import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { quoted, say } from '../../base/finding.ts';
import { holdsCredentials, type Path } from '../../base/document/document.ts';
import { namesSecretText } from '../../base/telemetry/telemetry.ts';
import type { ConfigFile } from './config-schema.ts';
import type { ConfigFacts } from './finding-facts.ts';
import type { ConfigReporter } from './reporter.ts';
import { AGENT_KINDS, type RunnerFile, type AgentKind } from './runner-schema.ts';
import type { GatewaySettings, RunnerSettings } from './settings.ts';
import { type Models, providerOf } from './models.ts';

interface RunnerContext extends Omit<NamedContext, 'name'> {
  readonly reporter: ConfigReporter;
}

/** The name under which a runner written at `gateway.runner` itself is kept. */
const INLINE_NAME = 'default';

/**
 * `gateway.runners` with two names added: `echo`, unless the file gives it another meaning, and `default` for a runner
 * that is written at `gateway.runner` itself.
 */
export function resolveRunners(
  gateway: ConfigFile['gateway'],
  context: RunnerContext,
): Pick<GatewaySettings, 'runner' | 'runners'> {
  const { reporter } = context;
  const { runners, paths } = allRunners(gateway, context);
  const runner = typeof gateway.runner === 'string' ? gateway.runner : INLINE_NAME;
  checkName(runner, ['gateway', 'runner'], runners, reporter);
  const heartbeat = gateway.heartbeat.runner;
  if (heartbeat !== undefined) checkName(heartbeat, ['gateway', 'heartbeat', 'runner'], runners, reporter);
  checkModels({ gateway, runner, runners, paths }, context);
  if (runners[heartbeat ?? runner]?.kind === 'worker') reportMainWorker(reporter, heartbeat !== undefined);
  return { runner, runners };
}

/** Every runner by its name, and where it is written. */
function allRunners(gateway: ConfigFile['gateway'], context: RunnerContext): NamedRunners {
  const runners: Record<string, RunnerSettings> = { echo: { kind: 'echo' } };
  const paths = new Map<string, Path>();
  const add = (name: string, runner: RunnerFile, path: Path): void => {
    runners[name] = runnerSettings(runner, { ...context, name });
    paths.set(name, path);
    checkArguments(runner, path, context.reporter);
  };
  for (const [name, runner] of Object.entries(gateway.runners))
    add(name, runner, ['gateway', 'runners', name]);
  if (typeof gateway.runner === 'object') {
    if (paths.has(INLINE_NAME)) reportTaken(context.reporter);
    add(INLINE_NAME, gateway.runner, ['gateway', 'runner']);
  }
  return { runners, paths };
}

function reportTaken(reporter: ConfigReporter): void {
  reporter.report('DUPLICATE_RUNNER', ['gateway', 'runners', INLINE_NAME], {
    key: true,
    message: say`the name "${INLINE_NAME}" is taken by the runner written at gateway.runner`,
    hint: say`give one of the two another name under gateway.runners, and put that name at gateway.runner`,
  });
}

/** The main session is one, and lives as long as the service: no worker takes its turns. */
function reportMainWorker(reporter: ConfigReporter, isNamed: boolean): void {
  reporter.report('MAIN_SESSION_WORKER', ['gateway', ...(isNamed ? ['heartbeat', 'runner'] : ['runner'])], {
    message: say`the main session would be taken by a worker, and workers take runs of hooks only`,
    hint: say`set gateway.heartbeat.runner to another runner, or to echo where nobody reads the main session`,
  });
}

/** Every user of the machine reads the arguments of its processes; a session key is made of the payload. */
function checkArguments(runner: RunnerFile, path: Path, reporter: ConfigReporter): void {
  if (typeof runner !== 'object' || runner.kind !== 'command') return;
  const index = runner.argv.findIndex((argument) => argument.includes('{session_key}'));
  if (index < 0) return;
  reporter.report('SESSION_KEY_IN_ARGV', [...path, 'argv', index], {
    severity: 'warning',
    isOfSafety: true,
    message: say`arguments can be read by every user of the machine, and a session key is made of what senders write`,
    hint: say`write {session_id} in place of {session_key}, or read SLUICE_SESSION_KEY from the environment`,
  });
}

/** Kinds of runners that are agents: names that people write where a runner's own name belongs. */
export const AGENT_RUNNERS: readonly string[] = [...AGENT_KINDS, 'openclaw'];

function checkName(
  name: string,
  path: Path,
  runners: Readonly<Record<string, RunnerSettings>>,
  reporter: ConfigReporter,
): void {
  if (Object.hasOwn(runners, name)) return;
  const hides = holdsSecret(name);
  const message = hides
    ? 'there is no runner of this name, which is a command line with a secret in it'
    : `there is no runner "${name.slice(0, 80)}"${AGENT_RUNNERS.includes(name) ? `: ${name} is a kind of runner, and no name of one` : ''}`;
  const facts: ConfigFacts['UNKNOWN_RUNNER'] = {
    written: name,
    runners: Object.keys(runners),
    isMain: path.at(-2) === 'gateway',
  };
  reporter.report('UNKNOWN_RUNNER', path, { message: quoted(message), hides, facts });
}

/** Whether an option, variable or header of a command line has the name of a secret, and a value. */
function holdsSecret(commandLine: string): boolean {
  const words = commandLine.trim().split(/\s+/);
  return words.some((word, index) => {
    const [, name = '', joined] = /^["']?(?:--?)?([\w-]+)(=.|:)?/.exec(word) ?? [];
    const hasValue = joined !== undefined || (word.startsWith('-') && index + 1 < words.length);
    return (namesSecretText(name) && hasValue) || holdsCredentials(word);
  });
}

/** Models a model runner would be asked for have to be served by one of its providers: nothing else is contacted. */
function checkModels(run: CheckedRunners, context: RunnerContext): void {
  const main = run.runners[run.runner];
  const beat = run.runners[run.gateway.heartbeat.runner ?? run.runner];
  if (main?.kind === 'model') {
    checkMainModels(main, run.paths.get(run.runner) ?? ['gateway', 'runner'], context);
    // A mapping may name another runner, and a model of it.
    const all = Object.values(run.runners).filter((each) => each.kind === 'model');
    for (const [index, name] of (context.models.models ?? []).entries()) {
      const served = all.find((each) => serves(each, name)) ?? main;
      checkModel(name, ['agents', 'defaults', 'models', index], { ...context, runner: served });
    }
  }
  if (beat?.kind === 'model') {
    checkHeartbeatModel(beat, { model: run.gateway.heartbeat.model, isMain: beat === main }, context);
  }
}

interface NamedRunners {
  readonly runners: Readonly<Record<string, RunnerSettings>>;
  readonly paths: ReadonlyMap<string, Path>;
}

interface CheckedRunners extends NamedRunners {
  readonly gateway: ConfigFile['gateway'];
  readonly runner: string;
}

type ModelRunner = Extract<RunnerSettings, { readonly kind: 'model' }>;

function checkMainModels(main: ModelRunner, mainPath: Path, { reporter, models }: RunnerContext): void {
  const at: Path = ['agents', 'defaults'];
  const standard = main.model ?? models.model;
  if (standard === undefined) {
    reporter.report('MODEL_NOT_SERVED', mainPath, {
      message: say`a model runner is used but neither it nor agents.defaults.model names a model`,
      hint: say`set agents.defaults.model, or the model of the runner, to provider/model`,
    });
  } else {
    const place = main.model === undefined ? [...at, 'model'] : [...mainPath, 'model'];
    checkModel(standard, place, { runner: main, reporter });
  }
}

function checkHeartbeatModel(
  runner: ModelRunner,
  { model, isMain }: { readonly model: string | undefined; readonly isMain: boolean },
  { reporter, models }: RunnerContext,
): void {
  if (model !== undefined) {
    checkModel(models.resolve(model), ['gateway', 'heartbeat', 'model'], { runner, reporter });
    return;
  }
  if (runner.model !== undefined || isMain) return;
  // The default model then has to be one of this runner's too.
  const path: Path = ['gateway', 'heartbeat', 'runner'];
  if (models.model === undefined) {
    reporter.report('MODEL_NOT_SERVED', path, {
      message: say`the heartbeat uses a model runner, but neither it nor agents.defaults names a model`,
      hint: say`set gateway.heartbeat.model to provider/model`,
    });
  } else checkModel(models.model, path, { runner, reporter });
}

function checkModel(
  name: string,
  path: Path,
  {
    runner,
    reporter,
  }: { readonly runner: RunnerSettings & { kind: 'model' }; readonly reporter: ConfigReporter },
): void {
  if (serves(runner, name)) return;
  reporter.report('MODEL_NOT_SERVED', path, {
    message: say`no configured provider serves the model "${name.slice(0, 80)}", expected provider/model`,
    facts: {
      provider: providerOf(name),
      known: Object.keys(runner.providers),
    } satisfies ConfigFacts['MODEL_NOT_SERVED'],
  });
}

/** Whether a provider of the runner is the one that a `provider/model` names. */
const serves = ({ providers }: ModelRunner, name: string): boolean =>
  Object.hasOwn(providers, providerOf(name) ?? '');

/** A runner's name, and what its settings are resolved with. */
interface NamedContext {
  readonly name: string;
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly models: Models;
}

/** A runner as it works: with its folders, and models by their full names. */
function runnerSettings(runner: RunnerFile, context: NamedContext): RunnerSettings {
  switch (runner.kind) {
    case 'echo':
    case 'openclaw':
    case 'forward':
    case 'worker':
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

type RunnerFileOf<Kind extends RunnerFile['kind']> = Extract<RunnerFile, { kind: Kind }>;
type SettingsOf<Kind extends RunnerSettings['kind']> = Extract<RunnerSettings, { kind: Kind }>;

function commandSettings(runner: RunnerFileOf<'command'>, context: NamedContext): SettingsOf<'command'> {
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

function agentSettings(runner: RunnerFileOf<AgentKind>, context: NamedContext): SettingsOf<'agent'> {
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

function modelSettings(runner: RunnerFileOf<'model'>, models: Models): SettingsOf<'model'> {
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
  what: 'work' | 'sessions' | 'console' | 'store' | 'trust' | 'workers',
  { directory, env, name }: Omit<NamedContext, 'models'>,
): string {
  const given = env['XDG_STATE_HOME'] ?? '';
  // A relative path is to be ignored (XDG Base Directory Specification).
  const state = isAbsolute(given) ? given : join(env['HOME'] ?? homedir(), '.local/state');
  const service = createHash('sha256').update(directory).digest('hex').slice(0, 12);
  return join(state, 'sluice', what, service, name.replaceAll(/[^\w.-]|^\.+/g, '_'));
}
