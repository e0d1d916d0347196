export type {
  ChannelAdapter,
  ChannelCheck,
  ChannelLookup,
  ChannelMessage,
  ChannelModule,
  ChannelSettings,
  SendResult,
} from './channel.ts';
export type { Runner, RunnerOptions, Turn, TurnResult } from './runner.ts';
export { createCommandRunner, type CommandSettings, type HostEnvironment } from './command-runner.ts';
export { createEchoRunner } from './echo-runner.ts';
export {
  type ChannelCatalog,
  type ChannelProblem,
  channelProblems,
  findChannelModule,
  loadChannelCatalog,
  type OpenChannels,
  openChannels,
  type PluginProblem,
  recipientProblem,
} from './channels/channels.ts';
