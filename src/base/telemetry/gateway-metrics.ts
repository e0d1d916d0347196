import { createMappingLabel, type Registrar } from './registrar.ts';

/** One attempt at a run, or its end. */
export interface ObservedRun {
  readonly runner: string;
  readonly mappingId: string | undefined;
  /** How the turn ended; `not-started`, `held` and `dead` are no turns. */
  readonly result: string;
  /** Absent where no turn was taken. */
  readonly tookMs?: number;
}

/** What became of a delivery or callback. */
export interface ObservedDelivery {
  /** A channel, or `callback`. */
  readonly channel: string;
  /** `sent`, `skipped`, `repeated` or `dead`. */
  readonly result: string;
}

/** What a turn used, as its agent says it. */
export interface ObservedTokens {
  readonly runner: string;
  /** Whose turn it was: of a hook's run, or of the main session. */
  readonly turn: 'hook' | 'heartbeat';
  /** Absent for the main session and the built-in routes. */
  readonly mappingId?: string | undefined;
  readonly usage: {
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly costUsd?: number;
  };
}

/** Runs of a mapping that wait although agents are free. */
export interface ObservedWaiting {
  readonly mappingId: string;
  readonly reason: string;
  readonly waiting: number;
}

/** What the gateway does, as it happens. */
export interface GatewayMetrics {
  observeRun(run: ObservedRun): void;
  observeDelivery(delivery: ObservedDelivery): void;
  observeHeartbeat(result: 'ok' | 'failed' | 'held'): void;
  observeTokens(tokens: ObservedTokens): void;
  /** Runners that are away now. */
  setAway(runners: readonly string[]): void;
  /** Runs that wait for a limit of their mapping or a pause, and what is paused. */
  setWaiting(
    waiting: readonly ObservedWaiting[],
    paused: readonly { readonly mappingId: string; readonly runner?: string }[],
  ): void;
}

const SECONDS = [0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1_800];

export function createGatewayMetrics(registrar: Registrar): GatewayMetrics {
  const mappingLabel = createMappingLabel();
  const observeRun = runMetrics(registrar, mappingLabel);
  const deliveries = registrar.counter('sluice_deliveries_total', 'Attempts at deliveries and callbacks.', [
    'channel',
    'result',
  ]);
  const heartbeats = registrar.counter('sluice_heartbeats_total', 'Turns of the main session.', ['result']);
  return {
    observeRun,
    observeDelivery: (labels) => deliveries.inc({ ...labels }),
    observeHeartbeat: (result) => heartbeats.inc({ result }),
    observeTokens: tokenMetrics(registrar, mappingLabel),
    setAway: awayMetrics(registrar),
    setWaiting: waitingMetrics(registrar, mappingLabel),
  };
}

type MappingLabel = ReturnType<typeof createMappingLabel>;

function runMetrics(registrar: Registrar, mappingLabel: MappingLabel): GatewayMetrics['observeRun'] {
  const runs = registrar.counter('sluice_runs_total', 'Attempts at runs, by runner, mapping and result.', [
    'runner',
    'mapping',
    'result',
  ]);
  const seconds = registrar.histogram('sluice_run_seconds', 'Time a turn of an agent took, by runner.', {
    labelNames: ['runner'],
    buckets: SECONDS,
  });
  return ({ runner, mappingId, result, tookMs }) => {
    runs.inc({ runner, mapping: mappingLabel(mappingId), result });
    if (tookMs !== undefined) seconds.observe({ runner }, tookMs / 1000);
  };
}

function tokenMetrics(registrar: Registrar, mappingLabel: MappingLabel): GatewayMetrics['observeTokens'] {
  const help = 'Tokens that turns used, where their agent says it.';
  const tokens = registrar.counter('sluice_tokens_total', help, ['runner', 'turn', 'direction']);
  const cost = registrar.counter(
    'sluice_cost_usd_total',
    'US dollars that turns cost, where their agent says it.',
    ['runner', 'mapping'],
  );
  return ({ runner, turn, mappingId, usage: { inputTokens = 0, outputTokens = 0, costUsd } }) => {
    tokens.inc({ runner, turn, direction: 'input' }, inputTokens);
    tokens.inc({ runner, turn, direction: 'output' }, outputTokens);
    if (costUsd !== undefined) cost.inc({ runner, mapping: mappingLabel(mappingId) }, costUsd);
  };
}

function awayMetrics(registrar: Registrar): GatewayMetrics['setAway'] {
  const help = '1 for a runner that cannot be reached, so that its runs wait.';
  const away = registrar.gauge('sluice_runner_away', help, ['runner']);
  return (runners) => {
    away.reset();
    for (const runner of runners) away.set({ runner }, 1);
  };
}

function waitingMetrics(registrar: Registrar, mappingLabel: MappingLabel): GatewayMetrics['setWaiting'] {
  const waiting = registrar.gauge(
    'sluice_mapping_waiting_runs',
    'Runs that wait for a limit of their mapping, or because somebody paused them.',
    ['mapping', 'reason'],
  );
  const help = '1 for a mapping that is paused; * stands for all.';
  const paused = registrar.gauge('sluice_queue_paused', help, ['mapping']);
  const pausedRunners = registrar.gauge('sluice_runner_paused', '1 for a runner that is paused.', ['runner']);
  return (found, pauses) => {
    waiting.reset();
    for (const { mappingId, reason, waiting: runCount } of found) {
      waiting.inc({ mapping: mappingLabel(mappingId), reason }, runCount);
    }
    paused.reset();
    pausedRunners.reset();
    for (const { mappingId, runner } of pauses) {
      if (runner === undefined) paused.set({ mapping: mappingLabel(mappingId) }, 1);
      else pausedRunners.set({ runner }, 1);
    }
  };
}
