/*
 * What has to fit between the configuration, the channels there are and the mappings, and cannot be seen in any one of
 * them alone.
 */
import { quoted, say } from '../../base/finding.ts';
import { channelIdOf } from '../../base/action.ts';
import type { LoadedConfig, RunnerSettings } from '../../engine/config/config.ts';
import { displayName, placeIfWritten, type Finding } from '../../base/document/document.ts';
import { channelProblems, isReference, recipientProblem, type ChannelCatalog } from '../channels/channels.ts';
import { defined, isJsonObject } from '../../base/json.ts';
import { modelProblems, tellsMoney, unknownModel } from '../runners/runners.ts';
import type { CompiledMapping } from '../../engine/mapping/mapping.ts';
import type { GenerationFacts } from './facts.ts';
import { findUnsafeRunners, runnerPath } from './runner-safety.ts';

/** Channels, runners and models that cannot work, each at the place that names it, and times that are cut. */
export function findGatewayProblems(
  config: LoadedConfig,
  catalog: ChannelCatalog,
  mappings: readonly CompiledMapping[],
  needSecrets: boolean,
): readonly Finding[] {
  return [
    ...findChannelProblems(config, catalog, needSecrets),
    ...findMainProblem(config, catalog),
    ...findRunnerProblems(config, mappings),
    ...findUnsafeRunners(config),
    ...findCutTimes(config, mappings),
    ...findUnreportedCosts(config, mappings),
    ...findKeptReplies(config, mappings),
    ...findOpenStarts(config, mappings),
  ];
}

const recipientTest =
  (catalog: ChannelCatalog, channel: string) =>
  (to: string): boolean =>
    recipientProblem(catalog, channel, to) === undefined;

function findChannelProblems(
  { settings, root }: LoadedConfig,
  catalog: ChannelCatalog,
  needSecrets: boolean,
): readonly Finding[] {
  const plugins = catalog.problems.map(({ spec, message }): Finding => ({
    severity: 'error',
    code: 'PLUGIN_NOT_LOADED',
    message: quoted(message.replaceAll(spec, displayName(spec))),
    at: root.place(['plugins', settings.plugins.indexOf(spec)]),
  }));
  const channels = channelProblems(catalog, settings.channels).map((problem) => {
    const { channel, key, message, known, lacksPackage = false } = problem;
    const as = writtenName(root, channel);
    const isGiven = key !== undefined && root.at(['channels', as, key]).value !== undefined;
    const setting = { as, problem, root, isRecipient: recipientTest(catalog, channel) };
    // The message on a recipient is a whole sentence already.
    const text = key === undefined ? message : `${key}${isGiven && key === 'to' ? ':' : ''} ${message}`;
    const at = root.place(isGiven ? ['channels', as, key] : ['channels', as], known && 'key');
    const finding = wrongSetting(text, at, { setting });
    // A process that only judges requests sends nothing.
    return lacksPackage && !needSecrets ? { ...finding, severity: 'warning' as const } : finding;
  });
  return [...plugins, ...channels];
}

function wrongSetting(
  text: string,
  at: Finding['at'] & {},
  facts: GenerationFacts['CHANNEL_SETTINGS'],
): Finding {
  return { severity: 'error', code: 'CHANNEL_SETTINGS', message: quoted(text), at, facts };
}

/** The name of a channel as it is written: in another case, or another spelling of it. */
function writtenName(root: LoadedConfig['root'], channel: string): string {
  const { value } = root.at(['channels']);
  const names = isJsonObject(value) ? Object.keys(value) : [];
  return names.find((name) => channelIdOf(name.trim().toLowerCase()) === channel) ?? channel;
}

/** Finds a `gateway.main` to which no message can go. */
function findMainProblem({ settings, root }: LoadedConfig, catalog: ChannelCatalog): readonly Finding[] {
  const { channel, to } = settings.gateway.main;
  if (to === undefined) return [];
  const at = root.place(['gateway', 'main', 'to']);
  if (channel === undefined)
    return [wrongSetting('gateway.main.to has no effect without gateway.main.channel', at, { main: {} })];
  const isJudged = Object.keys(settings.channels).includes(channel) && !isReference(to);
  const problem = isJudged ? recipientProblem(catalog, channel, to) : undefined;
  if (problem === undefined) return [];
  const wrong = { channel, to, isRecipient: recipientTest(catalog, channel) };
  return [
    wrongSetting(`gateway.main.to is not a recipient on ${channel}: ${problem}`, at, { main: { wrong } }),
  ];
}

/** Model runners that cannot work: a provider lacks a key, its package is missing, a mapping's model has no provider. */
function findRunnerProblems(
  { settings, root }: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  return Object.entries(settings.gateway.runners).flatMap(([name, runner]) => {
    if (runner.kind !== 'model') return [];
    const path = runnerPath(root, name);
    // The configuration has checked the names of its own models; those of mappings stand in their files.
    const own = modelProblems(runner).map(({ key, message }) =>
      wrongRunner(
        key === undefined ? message : `${key} ${message}`,
        root.place(key === undefined ? path : [...path, ...key.split('.')]),
        { runner: name, of: 'provider', key },
      ),
    );
    const named = mappings.flatMap((mapping) => mappingModelProblems(mapping, { name, runner }, settings));
    return [...own, ...named];
  });
}

function wrongRunner(
  text: string,
  at: Finding['at'] & {},
  facts: GenerationFacts['RUNNER_SETTINGS'],
): Finding {
  return { severity: 'error', code: 'RUNNER_SETTINGS', message: quoted(text), at, facts };
}

/** What is wrong with the model of a mapping whose runs a model runner performs. */
function mappingModelProblems(
  { action, at, model, runner: chosen }: CompiledMapping,
  { name, runner }: { readonly name: string; readonly runner: Extract<RunnerSettings, { kind: 'model' }> },
  { agents, gateway }: LoadedConfig['settings'],
): readonly Finding[] {
  if ((chosen ?? gateway.runner) !== name || action !== 'agent') return [];
  const { aliases, model: standard } = agents.defaults;
  // A blank model is none; the default model of the usual runner is the configuration's finding.
  const literal = model === undefined ? '' : model.literal?.trim();
  if (literal === undefined || (literal === '' && name === gateway.runner)) return [];
  const full = literal === '' ? standard : (aliases[literal] ?? literal);
  if (full === undefined) {
    const text = `the runner ${name} needs a model: neither the mapping nor agents.defaults.model names one`;
    return [wrongRunner(text, at, { runner: name, of: 'no-model' })];
  }
  const place = literal === '' ? at : (model?.at ?? at);
  const problem = unknownModel(runner, full);
  return problem === undefined ? [] : [wrongRunner(problem, place, { runner: name, of: 'model' })];
}

/** Times of mappings that are longer than a run may take. */
function findCutTimes(
  { settings, root }: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  const { timeoutSeconds, maxTimeoutSeconds: most } = settings.agents.defaults;
  const timeoutAt = placeIfWritten(root, ['agents', 'defaults', 'timeoutSeconds']);
  const cut = [{ timeoutSeconds, timeoutAt }, ...mappings].filter(
    ({ timeoutSeconds: asked = 0 }) => asked > most,
  );
  return cut.map(({ timeoutSeconds: asked = 0, timeoutAt: at }) => ({
    severity: 'warning',
    code: 'TIMEOUT_CUT',
    message: say`timeoutSeconds is ${asked}, but no run takes longer than ${most} s (agents.defaults.maxTimeoutSeconds)`,
    facts: { asked, most } satisfies GenerationFacts['TIMEOUT_CUT'],
    ...defined({ at }),
  }));
}

/** Limits on what mappings may cost in a day, where their runner does not report what a turn costs. */
function findUnreportedCosts(
  { settings: { gateway, hooks }, root }: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  const ofAll = hooks.defaults.limits?.usdPerDay !== undefined;
  const defaultAt = placeIfWritten(root, ['hooks', 'defaults', 'limits', 'usdPerDay']);
  const unreported = mappings.flatMap(({ id, action, runner: name = gateway.runner, usdPerDayAt }) => {
    const runner = gateway.runners[name];
    const isLimited = ofAll || usdPerDayAt !== undefined;
    if (action !== 'agent' || !isLimited || runner === undefined || tellsMoney(runner)) return [];
    const message = say`limits.usdPerDay is judged by what turns cost, and the runner ${name} (${runner.kind}) does not say it`;
    // The default is reported once for each runner.
    const key = usdPerDayAt === undefined ? `default ${name}` : id;
    return [[key, { message, at: usdPerDayAt ?? defaultAt }] as const];
  });
  return [...new Map(unreported).values()].map(({ message, at }) => ({
    severity: 'error',
    code: 'COST_NOT_TOLD',
    message,
    ...defined({ at }),
  }));
}

/** Runners of the main session whose replies are delivered from here. */
const ANSWERING: readonly RunnerSettings['kind'][] = ['agent', 'command', 'model'];

/** The only channel, where mappings deliver to it and `gateway.main` does not say which place of it is the main session's. */
export function sharedChannel(
  { channels, gateway: { main }, hooks }: LoadedConfig['settings'],
  mappings: readonly CompiledMapping[],
): string | undefined {
  const [only, ...others] = Object.keys(channels);
  if (only === undefined || others.length > 0 || main.channel !== undefined) return undefined;
  const delivers = ({ action, deliver = hooks.defaults.deliver }: CompiledMapping): boolean =>
    action === 'notify' || (action === 'agent' && deliver);
  return mappings.some(delivers) ? only : undefined;
}

/** Replies of the main session to what failed, which are not sent to everybody's channel. */
function findKeptReplies(
  { settings, root }: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  const { alerts, heartbeat, runner, runners } = settings.gateway;
  const kind = runners[heartbeat.runner ?? runner]?.kind;
  const channel = sharedChannel(settings, mappings);
  const isHeard = mappings.some(
    ({ action, summary = settings.hooks.defaults.summary }) => action === 'agent' && summary !== 'never',
  );
  if (channel === undefined || alerts?.replies === true || !isHeard) return [];
  // Without a recipient of the channel the replies of the main session stay in it anyway.
  if (settings.channels[channel]?.['to'] === undefined) return [];
  if (kind === undefined || !ANSWERING.includes(kind)) return [];
  return [
    {
      severity: 'warning',
      code: 'FAILURE_REPLIES_KEPT',
      isOfSafety: true,
      message: say`mappings deliver to ${channel}, the only channel: what the main session replies to the summary of a failure is not sent there, and stays in the log and the console`,
      at: root.place(['channels', writtenName(root, channel)], 'key'),
      hint: say`add gateway.alerts: {channel: ${channel}, to: RECIPIENT, replies: true} with your own recipient, or gateway.main: {channel: ${channel}, to: RECIPIENT} where the main session has a place of its own`,
    },
  ];
}

/** Runs that strangers can start, of an agent that may change something. */
function findOpenStarts(
  { settings }: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  const { runner: standard, runners } = settings.gateway;
  return mappings.flatMap(
    ({ action, startedBy, sender, match, runner = standard, idAt }): readonly Finding[] => {
      const agent = runners[runner];
      const changes = agent?.kind === 'agent' && agent.access !== undefined && agent.access !== 'read';
      if (action !== 'agent' || startedBy !== undefined || !changes) return [];
      const kind = match.when?.equalities.find(({ keys }) => keys.join('.') === sender?.kind)?.literal;
      if (kind === undefined || sender?.openKinds?.includes(kind) !== true) return [];
      return [
        {
          severity: 'warning',
          code: 'STARTED_BY_MISSING',
          isOfSafety: true,
          message: say`whoever can cause ${kind} at ${sender.title}, which on a public project is anybody, starts a run of ${runner}, whose access is ${agent.access}`,
          at: idAt,
          hint: say`add startedBy: write to the mapping, or give it a runner with access: read`,
        },
      ];
    },
  );
}
