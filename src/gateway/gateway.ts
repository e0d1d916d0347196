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
