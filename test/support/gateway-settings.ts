import type { GatewaySettings } from '../../src/config/config.ts';

/** Settings of a gateway as a configuration without any would have them, but without a periodic heartbeat. */
export function gatewaySettings(change: Partial<GatewaySettings> = {}): GatewaySettings {
  return {
    token: undefined,
    workFolders: {},
    runner: 'default',
    runners: {},
    maxRuns: 4,
    maxRunsPerMapping: undefined,
    holdHours: 24,
    heartbeat: {
      everySeconds: 0,
      instructions: 'Look at these events.',
      model: undefined,
      runner: undefined,
      activeHours: undefined,
    },
    events: { maxPending: 1000 },
    main: { channel: undefined, to: undefined },
    sessions: { maxTurns: 40, maxTokens: 100_000 },
    callbackSecret: undefined,
    ...change,
  };
}
