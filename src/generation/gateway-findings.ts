/*
 * What has to fit between the configuration, the channels there are and the mappings, and cannot be seen in any one of
 * them alone.
 */
import { recipientHint } from '../advice/recipients.ts';
import { quoted, say, type Sentence } from '../finding.ts';
import { channelIdOf, LAST_CHANNEL } from '../action.ts';
import type { LoadedConfig, RunnerSettings } from '../config/config.ts';
import { displayName, formatPlace, placeIfWritten, type Finding, withEdit } from '../document/document.ts';
import {
  channelProblems,
  isReference,
  recipientProblem,
  requiredSettings,
  type ChannelCatalog,
} from '../channels/channels.ts';
import { modelProblems } from '../runners/runners.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';
import { channelBlock, describeSettings } from './channel-settings.ts';
import { findDefaultProblems } from './default-findings.ts';
import { findRecipientProblems, recipientTest } from './recipient-findings.ts';
import { runnerPath } from './runner-path.ts';
import { findUnsafeRunners } from './runner-safety.ts';

type Place = NonNullable<Finding['at']>;

/** Channels, recipients, runners and models that cannot work, each at the place that names it. */
export function findGatewayProblems(
  config: LoadedConfig,
  catalog: ChannelCatalog,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  return [
    ...findChannelProblems(config, catalog),
    ...findIdleChannels(config, catalog, mappings),
    ...findRunnerProblems(config, mappings),
    ...findWholeAddresses(config),
    ...findForwardedInstructions(config, mappings),
    ...findUnsafeRunners(config),
    ...findSilentMappings(config, mappings),
    ...findWaitingMappings(config, mappings),
    ...findDefaultProblems(config, mappings),
    ...findRecipientProblems(config, catalog, mappings),
  ];
}

/** Channels and plugins that cannot work, at their place in the configuration. */
function findChannelProblems({ settings, root }: LoadedConfig, catalog: ChannelCatalog): readonly Finding[] {
  const plugins = catalog.problems.map(({ spec, message }): Finding => ({
    severity: 'error',
    code: 'PLUGIN_NOT_LOADED',
    message: quoted(message.replaceAll(spec, displayName(spec))),
    at: root.place(['plugins', settings.plugins.indexOf(spec)]),
    hint: say`name a package that is installed, or a file relative to the configuration; its default export is a channel module`,
  }));
  const channels = describeSettings(root, channelProblems(catalog, settings.channels), (channel, to) =>
    recipientHint({ channel, to, isRecipient: recipientTest(catalog, channel) }),
  );
  return [...plugins, ...channels, ...findMainProblem(settings, root, catalog)];
}

/** Where `last` starts has to be a place messages can go to. */
function findMainProblem(
  { channels, gateway }: LoadedConfig['settings'],
  root: LoadedConfig['root'],
  catalog: ChannelCatalog,
): readonly Finding[] {
  const { channel, to } = gateway.main;
  const configured = Object.keys(channels);
  const at = (key: 'channel' | 'to'): Place => root.place(['gateway', 'main', key]);
  const wrongTo = (message: string, hint: string): readonly Finding[] => [
    {
      severity: 'error',
      code: 'CHANNEL_SETTINGS',
      message: quoted(message),
      at: at('to'),
      hint: quoted(hint),
    },
  ];
  if (channel === undefined) {
    const hint = 'set gateway.main.channel, or set `to` in the settings of the channel instead';
    return to === undefined
      ? []
      : wrongTo('gateway.main.to has no effect without gateway.main.channel', hint);
  }
  if (!configured.includes(channel))
    return [notConfigured(catalog, channel, { configured, at: at('channel') })];
  const wrong = to === undefined || isReference(to) ? undefined : recipientProblem(catalog, channel, to);
  if (wrong === undefined) return [];
  const hint =
    recipientHint({ channel, to: to ?? '', isRecipient: recipientTest(catalog, channel) }) ??
    'write the recipient in that form, or remove gateway.main.to';
  return wrongTo(`gateway.main.to is not a recipient on ${channel}: ${wrong}`, hint);
}

function notConfigured(
  catalog: ChannelCatalog,
  channel: string,
  { configured, at }: { readonly configured: readonly string[]; readonly at: Place },
): Finding {
  const block = channelBlock(channel, requiredSettings(catalog, channel));
  return {
    severity: 'warning',
    code: 'CHANNEL_NOT_CONFIGURED',
    message: say`replies go to ${channel}, which has no settings: each delivery fails with not_configured`,
    at,
    hint: quoted(
      configured.length === 0
        ? `write channels: {${block}} in the configuration, or deliver: false where no reply is to be sent`
        : `add ${block} below channels, or choose one of the channels that are configured: ${configured.join(', ')}`,
    ),
  };
}

/** Mappings that name a channel without settings. */
function findIdleChannels(
  { settings }: LoadedConfig,
  catalog: ChannelCatalog,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  const configured = Object.keys(settings.channels);
  return mappings.flatMap(namedChannels).flatMap(({ name, at }): Finding[] => {
    const id = channelIdOf(name);
    if (id === LAST_CHANNEL || configured.includes(id)) return [];
    return [notConfigured(catalog, id, { configured, at })];
  });
}

interface NamedChannel {
  readonly name: string;
  readonly at: Place;
}

/** The channels that a mapping sends its replies to, as it names them. */
function namedChannels(mapping: CompiledMapping): readonly NamedChannel[] {
  const { action, at, channel, deliver, fallback } = mapping;
  if (action !== 'agent' || deliver === false) return [];
  const name = channel?.literal?.trim().toLowerCase() ?? '';
  return [
    ...(name === '' || channel === undefined ? [] : [{ name, at: channel.at }]),
    ...(fallback === undefined ? [] : [{ name: fallback.channel, at }]),
  ];
}

/** Mappings that name where their replies go, while the defaults of all send none. */
function findSilentMappings(
  { settings, root }: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  if (settings.hooks.defaults.deliver) return [];
  const isOffAt = placeIfWritten(root, ['hooks', 'defaults', 'deliver']);
  const where = isOffAt === undefined ? '' : ` (${formatPlace(isOffAt)})`;
  return mappings.filter(leavesDeliverOut).map(({ at, id, channel, to }) => ({
    severity: 'warning',
    code: 'DELIVER_OFF',
    message: say`no reply of "${id}" is sent, although it says where to: hooks.defaults.deliver is false${where}, and the mapping does not set deliver`,
    at: (channel ?? to)?.at ?? at,
    hint: say`add deliver: true to the mapping; or remove its channel and to`,
  }));
}

/** Says where to, but not whether; a transform can say deliver: true itself. */
function leavesDeliverOut({ action, deliver, channel, to, transform }: CompiledMapping): boolean {
  const namesTarget = channel !== undefined || to !== undefined;
  return action === 'agent' && namesTarget && deliver === undefined && transform === undefined;
}

/** Mappings whose events wait for the regular turn of the main agent, which is off. */
function findWaitingMappings(
  { settings: { gateway, hooks }, root }: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  if (gateway.heartbeat.everySeconds > 0) return [];
  const isOffAt = placeIfWritten(root, ['gateway', 'heartbeat', 'everySeconds']);
  const waiting = mappings.filter(
    ({ action, wakeMode = hooks.defaults.wakeMode }) => action === 'wake' && wakeMode === 'next-heartbeat',
  );
  return waiting.map(({ id, at }) => ({
    severity: 'warning',
    code: 'HEARTBEAT_OFF',
    message: say`the events of "${id}" wait for the regular turn of the main agent (wakeMode: next-heartbeat), and gateway.heartbeat.everySeconds: 0 turns that off`,
    at: isOffAt ?? at,
    hint: say`there are two ways: for a turn every half hour that reads all events write everySeconds: 1800; to have each event read at once write wakeMode: now in the mapping (${formatPlace(at)})`,
  }));
}

/** Another gateway draws its boundary around all it gets, the operator's own words included. */
function findForwardedInstructions(
  { settings: { gateway } }: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  const isForward = (name: string): boolean => gateway.runners[name]?.kind === 'forward';
  return mappings
    .filter(
      ({ action, instructions, runner = gateway.runner }) =>
        action === 'agent' && instructions !== undefined && isForward(runner),
    )
    .map(({ id, at, runner = gateway.runner }) => ({
      severity: 'warning',
      code: 'INSTRUCTIONS_FORWARDED',
      message: say`the instructions of "${id}" reach the agent as untrusted text: the gateway behind the runner ${runner} marks all it gets`,
      at,
      hint: say`use a runner that starts the agent itself; for an OpenClaw gateway that is kind: openclaw`,
    }));
}

/** Model runners that cannot work: a provider lacks a key, its package is missing, a mapping's model has no provider. */
function findRunnerProblems(
  { settings, root }: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  return Object.entries(settings.gateway.runners).flatMap(([name, runner]) => {
    if (runner.kind !== 'model') return [];
    const named = mappings.flatMap((mapping) => mappingModelProblems(mapping, { name, runner }, settings));
    return [...ownModelProblems(root, name, runner), ...named].map((problem): Finding => ({
      severity: 'error',
      code: 'RUNNER_SETTINGS',
      ...problem,
    }));
  });
}

/** The address of one hook of another gateway, where that of all is meant: `/agent` is put behind it. */
function findWholeAddresses({ settings, root }: LoadedConfig): readonly Finding[] {
  return Object.entries(settings.gateway.runners).flatMap(([name, runner]): Finding[] => {
    const url = runner.kind === 'forward' ? runner.url : '';
    const base = /^(https?:\/\/[^/]+\/.*[^/])\/(?:agent|wake)\/?$/.exec(url)?.[1];
    if (base === undefined || isReference(url)) return [];
    const at = root.place([...runnerPath(root, name), 'url']);
    const found: Finding = {
      severity: 'warning',
      code: 'RUNNER_SETTINGS',
      message: say`url is the address of the hooks of the other gateway: /agent is put behind it, so runs go to ${url.replace(/\/$/, '')}/agent`,
      at,
      hint: say`write url: ${base}`,
    };
    return [withEdit(found, { at, text: JSON.stringify(base) })];
  });
}

type ModelRunner = Extract<RunnerSettings, { kind: 'model' }>;

/** The configuration has checked the names of its own models; those of mappings stand in their files. */
function ownModelProblems(
  root: LoadedConfig['root'],
  name: string,
  runner: ModelRunner,
): readonly ModelProblem[] {
  const path = runnerPath(root, name);
  return modelProblems(runner, []).map(({ key, message }) => ({
    at: root.place(key === undefined ? path : [...path, ...key.split('.')]),
    message: quoted(key === undefined ? message : `${key} ${message}`),
    hint: quoted(providerHint(name, key)),
  }));
}

interface ModelProblem {
  readonly at: Place;
  readonly message: Sentence;
  readonly hint: Sentence;
}

/** What is wrong with the model of a mapping whose runs a model runner performs. */
function mappingModelProblems(
  { action, at, model, runner: chosen }: CompiledMapping,
  { name, runner }: { readonly name: string; readonly runner: ModelRunner },
  { agents, gateway }: LoadedConfig['settings'],
): readonly ModelProblem[] {
  if ((chosen ?? gateway.runner) !== name || action !== 'agent') return [];
  const { aliases, model: standard } = agents.defaults;
  // A blank model is none; the default model of the usual runner is the configuration's finding.
  const literal = model === undefined ? '' : model.literal?.trim();
  if (literal === undefined || (literal === '' && name === gateway.runner)) return [];
  const full = literal === '' ? standard : (aliases[literal] ?? literal);
  if (full === undefined) {
    const message = say`the runner ${name} needs a model: neither the mapping nor agents.defaults.model names one`;
    return [{ at, message, hint: say`set agents.defaults.model to provider/model, or model in the mapping` }];
  }
  const place = literal === '' ? at : (model?.at ?? at);
  const hint = say`name a model of one of them, or add its provider to gateway.runners.${name}.providers`;
  return modelProblems(runner, [full])
    .filter((problem) => problem.model !== undefined)
    .map(({ message }) => ({ at: place, message: quoted(message), hint }));
}

function providerHint(runner: string, key: string | undefined): string {
  if (key === undefined)
    return 'run that command where Sluice is installed, with -g where it is installed globally';
  if (key.endsWith('.apiKey')) return 'add apiKey there, as ${NAME} or {file: PATH}';
  if (key.endsWith('.baseUrl')) return 'add the address, for example http://127.0.0.1:11434/v1';
  return key === 'providers'
    ? `gateway.runners.${runner}.providers says which models can be asked, and through which package`
    : 'rename it; models are named provider/model';
}
