/** The public API: types for transform authors and plugin channels, and the golden cases as vitest tests. */
export type { ChannelAdapter, ChannelModule } from './gateway/gateway.ts';
