import { thinkingLevel } from '../../base/action.ts';
import { defined } from '../../base/json.ts';
import { knownChannels, recipientProblem, type ChannelCatalog } from '../channels/channels.ts';
import type { LoadedConfig } from '../../engine/config/config.ts';
import { MAX_ACTIONS, TRANSFORM_BUDGET_MS, type EvaluationSettings } from '../../engine/hook/hook.ts';
import type { RoutingTable } from '../../engine/mapping/mapping.ts';
import { findCommentMark } from '../../base/marks.ts';

export function createEvaluationSettings({
  config,
  channelCatalog,
  table,
}: {
  readonly config: LoadedConfig;
  readonly channelCatalog: ChannelCatalog;
  readonly table: RoutingTable;
}): EvaluationSettings {
  const { settings, openclawAgents } = config;
  const { aliases, models } = settings.agents.defaults;
  const { lenient, defaults, unmatched, sessionKeys, limits, agents, behaviours } = settings.hooks;
  return {
    lenient,
    defaults,
    unmatched,
    sessionKeys,
    limits,
    hookAgents: { ...agents, ...defined({ openclawAgents }) },
    table,
    agents: { aliases, models },
    channels: knownChannels(channelCatalog),
    recipientProblem: (channel, to) => recipientProblem(channelCatalog, channel, to),
    findOwnComment: commentFinder(config),
    behaviours,
    runDefaults: usableDefaults(config),
    maxActions: MAX_ACTIONS,
    transformBudgetMs: TRANSFORM_BUDGET_MS,
  };
}

/** Only a comment with the mark of the configured token is our own. */
function commentFinder({ settings }: LoadedConfig): (words: string) => string | undefined {
  const { github, gitlab, email } = settings.channels;
  const found = [github?.['token'], gitlab?.['token'], email?.['password'] ?? email?.['from']];
  const secrets = found.filter((secret) => typeof secret === 'string' && secret !== '') as string[];
  return (words) => findCommentMark(words, secrets);
}

/** Defaults with models in full; one that the allow-list leaves out is passed over, as in OpenClaw. */
function usableDefaults({ runDefaults, settings }: LoadedConfig): EvaluationSettings['runDefaults'] {
  const { aliases, models } = settings.agents.defaults;
  return Object.fromEntries(
    Object.entries(runDefaults).map(([name, { model: written, thinking: level }]) => {
      const model = written === undefined ? undefined : (aliases[written] ?? written);
      const isAllowed = model !== undefined && (models === undefined || models.includes(model));
      const thinking = level === undefined ? undefined : thinkingLevel(level);
      return [name, defined({ model: isAllowed ? model : undefined, thinking })];
    }),
  );
}
