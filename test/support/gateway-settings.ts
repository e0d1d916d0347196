import type { GatewaySettings } from '../../src/engine/config/config.ts';

/** Settings of a gateway as a configuration without any would have them, but without a periodic heartbeat. */
export function gatewaySettings(change: Partial<GatewaySettings> = {}): GatewaySettings {
  return {
    workFolders: {},
    runner: 'default',
    runners: {},
    maxRuns: 4,
    holdHours: 24,
    heartbeat: {
      everySeconds: 0,
      instructions: 'Look at these events.',
    },
    events: { maxPending: 1000 },
    main: {},
    sessions: { maxTurns: 40, maxTokens: 100_000 },
    ...change,
  };
}
