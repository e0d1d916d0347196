import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

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
  readonly usage: { readonly inputTokens?: number; readonly outputTokens?: number };
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
  setWaiting(waiting: readonly ObservedWaiting[], paused: readonly string[]): void;
}

const SECONDS = [0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1_800];
/** Mappings told apart; further ones are counted under `other`, so that series stay bounded. */
const MAX_MAPPINGS = 200;

export function createGatewayMetrics(registry: Registry): GatewayMetrics {
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: readonly string[]): Counter =>
    new Counter({ name, help, labelNames, registers });
  const runs = counter('sluice_runs_total', 'Attempts at runs, by runner, mapping and result.', [
    'runner',
    'mapping',
    'result',
  ]);
  const seconds = new Histogram({
    name: 'sluice_run_seconds',
    help: 'Time a turn of an agent took, by runner.',
    labelNames: ['runner'],
    buckets: SECONDS,
    registers,
  });
  const deliveries = counter('sluice_deliveries_total', 'Attempts at deliveries and callbacks.', [
    'channel',
    'result',
  ]);
  const heartbeats = counter('sluice_heartbeats_total', 'Turns of the main session.', ['result']);
  const tokens = counter('sluice_tokens_total', 'Tokens that turns used, where their agent says it.', [
    'runner',
    'turn',
    'direction',
  ]);
  const away = new Gauge({
    name: 'sluice_runner_away',
    help: '1 for a runner that cannot be reached, so that its runs wait.',
    labelNames: ['runner'],
    registers,
  });
  const waiting = new Gauge({
    name: 'sluice_mapping_waiting_runs',
    help: 'Runs that wait for a limit of their mapping, or because somebody paused them.',
    labelNames: ['mapping', 'reason'],
    registers,
  });
  const paused = new Gauge({
    name: 'sluice_queue_paused',
    help: '1 for a mapping that is paused; * stands for all.',
    labelNames: ['mapping'],
    registers,
  });
  const mappings = new Set<string>();
  const mappingLabel = (id = ''): string => {
    if (mappings.size < MAX_MAPPINGS) mappings.add(id);
    return mappings.has(id) ? id : 'other';
  };
  return {
    observeRun({ runner, mappingId, result, tookMs }) {
      runs.inc({ runner, mapping: mappingLabel(mappingId), result });
      if (tookMs !== undefined) seconds.observe({ runner }, tookMs / 1000);
    },
    observeDelivery: (labels) => deliveries.inc({ ...labels }),
    observeHeartbeat: (result) => heartbeats.inc({ result }),
    observeTokens({ runner, turn, usage: { inputTokens = 0, outputTokens = 0 } }) {
      tokens.inc({ runner, turn, direction: 'input' }, inputTokens);
      tokens.inc({ runner, turn, direction: 'output' }, outputTokens);
    },
    setAway(runners) {
      away.reset();
      for (const runner of runners) away.set({ runner }, 1);
    },
    setWaiting(found, pauses) {
      waiting.reset();
      for (const { mappingId, reason, waiting: runCount } of found) {
        waiting.inc({ mapping: mappingLabel(mappingId), reason }, runCount);
      }
      paused.reset();
      for (const mapping of pauses) paused.set({ mapping: mappingLabel(mapping) }, 1);
    },
  };
}
