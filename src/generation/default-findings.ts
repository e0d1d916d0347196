/*
 * Defaults of the configuration that do not reach what they are meant for: a model that the runner does not take, and
 * a channel that nothing names.
 */
import { FALLBACK_CHANNEL, LAST_CHANNEL } from '../action.ts';
import type { LoadedConfig } from '../config/config.ts';
import type { Diagnostic } from '../document/document.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';
import { runnerPath } from './runner-path.ts';

/** Each at the place that has to change. */
export function findDefaultProblems(
  config: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Diagnostic[] {
  return [...findUnusedModel(config), ...findUndecidedChannel(config, mappings)];
}

/** A coding agent keeps the model of its own settings: the default of all is no name that it knows. */
function findUnusedModel({ settings: { agents, gateway }, root }: LoadedConfig): readonly Diagnostic[] {
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
      message: `agents.defaults.model does not reach the coding agent ${runner.agent}, which uses the model of its own settings`,
      at: root.place(path, 'key'),
      hint: `write model: ${agents.defaults.model.slice(0, 80)} at ${own} (${own}.model), or model in a mapping, and remove it here`,
    },
  ];
}

/** Replies to the channel `last`, where several are set up and nothing says which was used last. */
function findUndecidedChannel(
  { settings: { channels, gateway, hooks } }: LoadedConfig,
  mappings: readonly CompiledMapping[],
): readonly Diagnostic[] {
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
    message: `replies of "${id}" go to the channel that the main session used last; until it has used one they go nowhere, because ${String(configured.length)} channels are configured and gateway.main names none`,
    at: channel?.at ?? at,
    hint: `add channel: ${configured.join(' or channel: ')} to the mapping, or set gateway.main: {channel: ${configured[0] ?? ''}}`,
  }));
}

function isLast(literal: string | undefined, isAbsent: boolean): boolean {
  return isAbsent || ['', LAST_CHANNEL].includes(literal?.trim().toLowerCase() ?? 'another');
}
