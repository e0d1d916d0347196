/*
 * Defaults of the configuration that do not reach what they are meant for: a model that the runner does not take, a
 * channel that nothing names, and a time that is cut.
 */
import { say } from '../finding.ts';
import { FALLBACK_CHANNEL, LAST_CHANNEL } from '../action.ts';
import type { LoadedConfig } from '../config/config.ts';
import { placeIfWritten, type Finding } from '../document/document.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';
import { runnerPath } from './runner-path.ts';

/** Each at the place that has to change. */
export function findDefaultProblems(
  config: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  return [
    ...findUnusedModel(config),
    ...findUndecidedChannel(config, mappings),
    ...findCutTimes(config, mappings),
  ];
}

/** A coding agent keeps the model of its own settings: the default of all is no name that it knows. */
function findUnusedModel({ settings: { agents, gateway }, root }: LoadedConfig): readonly Finding[] {
  const path = ['agents', 'defaults', 'model'];
  const runner = gateway.runners[gateway.runner];
  if (agents.defaults.model === undefined || root.at(path).value === undefined) return [];
  if (runner?.kind !== 'agent' || runner.model !== undefined) return [];
  const isUsed = Object.entries(gateway.runners).some(
    ([name, one]) => one.kind !== 'agent' && (name !== 'echo' || one.kind !== 'echo'),
  );
  if (isUsed) return [];
  const own = runnerPath(root, gateway.runner).join('.');
  return [
    {
      severity: 'warning',
      code: 'MODEL_NOT_PASSED_ON',
      message: say`agents.defaults.model does not reach the coding agent ${runner.agent}, which uses the model of its own settings`,
      at: root.place(path, 'key'),
      hint: say`write model: ${agents.defaults.model.slice(0, 80)} at ${own} (${own}.model), or model in a mapping, and remove it here`,
    },
  ];
}

/** Times that a run is not given, because it may not take that long. */
function findCutTimes(
  { settings, root }: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  const { timeoutSeconds, maxTimeoutSeconds: most } = settings.agents.defaults;
  const defaults = { timeoutSeconds, at: placeIfWritten(root, ['agents', 'defaults', 'timeoutSeconds']) };
  const cut = [defaults, ...mappings].filter(({ timeoutSeconds: asked = 0 }) => asked > most);
  return cut.map(({ timeoutSeconds: asked = 0, at }) => ({
    severity: 'warning',
    code: 'TIMEOUT_CUT',
    message: say`timeoutSeconds is ${String(asked)}, but no run takes longer than ${String(most)} s (agents.defaults.maxTimeoutSeconds)`,
    ...(at === undefined ? {} : { at }),
    hint: say`write maxTimeoutSeconds: ${String(asked)} below agents.defaults, or timeoutSeconds: ${String(most)} here`,
  }));
}

/** Replies to the channel `last`, where several are set up and nothing says which was used last. */
function findUndecidedChannel(
  { settings: { channels, gateway, hooks } }: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Finding[] {
  const configured = Object.keys(channels);
  if (gateway.main.channel !== undefined || configured.length < 2 || configured.includes(FALLBACK_CHANNEL))
    return [];
  const undecided = mappings.filter(
    ({ action, deliver = hooks.defaults.deliver, channel, transform }) =>
      action === 'agent' &&
      deliver &&
      transform === undefined &&
      isLast(channel?.literal, channel === undefined),
  );
  return undecided.map(({ id, at, channel }) => ({
    severity: 'warning',
    code: 'CHANNEL_UNDECIDED',
    message: say`replies of "${id}" go to the channel that the main session used last; until it has used one they go nowhere, because ${String(configured.length)} channels are configured and gateway.main names none`,
    at: channel?.at ?? at,
    hint: say`add channel: ${configured.join(' or channel: ')} to the mapping, or set gateway.main: {channel: ${configured[0] ?? ''}}`,
  }));
}

function isLast(literal: string | undefined, isAbsent: boolean): boolean {
  return isAbsent || ['', LAST_CHANNEL].includes(literal?.trim().toLowerCase() ?? 'another');
}
