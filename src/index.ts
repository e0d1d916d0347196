/** The public API: golden cases as tests, types for transform authors, and the contract of channel plugins. */
export { goldenTests, type GoldenTestsOptions } from './golden-tests.ts';
export type {
  ChannelAdapter,
  ChannelCheck,
  ChannelMessage,
  ChannelModule,
  ChannelSettings,
  SendResult,
} from './gateway/gateway.ts';
export {
  defineTransform,
  type Transform,
  type TransformContext,
  type TransformResult,
} from './sandbox/sandbox.ts';
