import { resolve } from 'node:path';
import { didYouMean, type Path } from '../document/document.ts';
import type { ConfigFile } from './config-schema.ts';
import type { Models } from './models.ts';
import type { Reporter } from './reporter.ts';
import type { RunnerFile } from './runner-schema.ts';
import type { GatewaySettings, ProviderSettings, RunnerSettings } from './settings.ts';

interface RunnerContext {
  readonly reporter: Reporter;
  readonly directory: string;
  readonly models: Models;
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
  const runners: Record<string, RunnerSettings> = { echo: { kind: 'echo' } };
  const paths = new Map<string, Path>();
  const add = (name: string, runner: RunnerFile, path: Path): void => {
    runners[name] = runnerSettings(runner, context.directory);
    paths.set(name, path);
  };
  for (const [name, runner] of Object.entries(gateway.runners))
    add(name, runner, ['gateway', 'runners', name]);
  if (typeof gateway.runner === 'object') {
    if (paths.has(INLINE_NAME)) {
      reporter.report('DUPLICATE_RUNNER', ['gateway', 'runners', INLINE_NAME], {
        key: true,
        message: `the name "${INLINE_NAME}" is taken by the runner written at gateway.runner`,
        hint: 'give one of the two another name under gateway.runners, and put that name at gateway.runner',
      });
    }
    add(INLINE_NAME, gateway.runner, ['gateway', 'runner']);
  }
  const runner = typeof gateway.runner === 'string' ? gateway.runner : INLINE_NAME;
  checkName(runner, ['gateway', 'runner'], runners, reporter);
  const heartbeat = gateway.heartbeat.runner;
  if (heartbeat !== undefined) checkName(heartbeat, ['gateway', 'heartbeat', 'runner'], runners, reporter);
  checkModels({ gateway, runner, runners, paths }, context);
  return { runner, runners };
}

function checkName(
  name: string,
  path: Path,
  runners: Readonly<Record<string, RunnerSettings>>,
  reporter: Reporter,
): void {
  if (Object.hasOwn(runners, name)) return;
  const near = didYouMean(name, Object.keys(runners));
  reporter.report('UNKNOWN_RUNNER', path, {
    message: `there is no runner "${name.slice(0, 80)}"`,
    hint:
      near === undefined ? `the runners are: ${Object.keys(runners).join(', ')}` : `did you mean "${near}"?`,
  });
}

/** Models a model runner would be asked for have to be served by one of its providers: nothing else is contacted. */
function checkModels(
  run: {
    readonly gateway: ConfigFile['gateway'];
    readonly runner: string;
    readonly runners: Readonly<Record<string, RunnerSettings>>;
    readonly paths: ReadonlyMap<string, Path>;
  },
  { reporter, models }: RunnerContext,
): void {
  const main = run.runners[run.runner];
  const { heartbeat } = run.gateway;
  if (main?.kind === 'model') {
    const at: Path = ['agents', 'defaults'];
    const inlinePath = run.paths.get(run.runner) ?? ['gateway', 'runner'];
    if (models.model === undefined) {
      reporter.report('MODEL_NOT_SERVED', inlinePath, {
        message: 'a model runner is used but agents.defaults.model names no model',
        hint: 'set agents.defaults.model to provider/model',
      });
    } else checkModel(models.model, [...at, 'model'], { runner: main, reporter });
    for (const [index, name] of (models.models ?? []).entries()) {
      checkModel(name, [...at, 'models', index], { runner: main, reporter });
    }
  }
  const beat = run.runners[heartbeat.runner ?? run.runner];
  if (beat?.kind === 'model' && heartbeat.model === undefined && beat !== main) {
    // The default model then has to be one of this runner's too.
    const path: Path = ['gateway', 'heartbeat', 'runner'];
    if (models.model === undefined) {
      reporter.report('MODEL_NOT_SERVED', path, {
        message: 'the heartbeat uses a model runner, but neither it nor agents.defaults names a model',
        hint: 'set gateway.heartbeat.model to provider/model',
      });
    } else checkModel(models.model, path, { runner: beat, reporter });
  }
  if (beat?.kind === 'model' && heartbeat.model !== undefined) {
    checkModel(models.resolve(heartbeat.model), ['gateway', 'heartbeat', 'model'], {
      runner: beat,
      reporter,
    });
  }
}

function checkModel(
  name: string,
  path: Path,
  { runner, reporter }: { readonly runner: RunnerSettings & { kind: 'model' }; readonly reporter: Reporter },
): void {
  const slash = name.indexOf('/');
  const provider = slash < 0 ? undefined : name.slice(0, slash);
  const known = Object.keys(runner.providers);
  if (provider !== undefined && slash < name.length - 1 && known.includes(provider)) return;
  const near = provider === undefined ? undefined : didYouMean(provider, known);
  reporter.report('MODEL_NOT_SERVED', path, {
    message: `no configured provider serves the model "${name.slice(0, 80)}", expected provider/model`,
    hint:
      near === undefined ? `the providers are: ${known.join(', ') || '(none)'}` : `did you mean "${near}/…"?`,
  });
}

function runnerSettings(runner: RunnerFile, directory: string): RunnerSettings {
  const limits = runner.maxRuns === undefined ? {} : { maxRuns: runner.maxRuns };
  switch (runner.kind) {
    case 'echo':
      return { kind: 'echo', ...limits };
    case 'command': {
      const { replyPath, cwd } = runner;
      return {
        kind: 'command',
        argv: runner.argv,
        prompt: runner.prompt,
        env: runner.env,
        passEnv: runner.passEnv,
        retryExitCodes: runner.retryExitCodes,
        maxReplyBytes: runner.maxReplyBytes,
        ...(replyPath === undefined ? {} : { replyPath }),
        ...(cwd === undefined ? {} : { cwd: resolve(directory, cwd) }),
        ...limits,
      };
    }
    case 'model': {
      const { system, maxOutputTokens } = runner;
      return {
        kind: 'model',
        providers: Object.fromEntries(
          Object.entries(runner.providers).map(([name, provider]) => [name, providerSettings(provider)]),
        ),
        ...(system === undefined ? {} : { system }),
        ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
        ...limits,
      };
    }
    case 'openclaw': {
      const { command, agent, hooks, passEnv, maxReplyBytes } = runner;
      return {
        kind: 'openclaw',
        command,
        passEnv,
        maxReplyBytes,
        ...(agent === undefined ? {} : { agent }),
        ...(hooks === undefined ? {} : { hooks }),
        ...limits,
      };
    }
    case 'forward':
      return {
        kind: 'forward',
        url: runner.url,
        token: runner.token,
        forwardSummaries: runner.forwardSummaries,
        ...limits,
      };
  }
}

type ProviderFile = Extract<RunnerFile, { kind: 'model' }>['providers'][string];

function providerSettings({ kind, baseUrl, apiKey, reasoning }: ProviderFile): ProviderSettings {
  return {
    kind,
    reasoning: reasoning ?? kind !== 'openai-compatible',
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}
