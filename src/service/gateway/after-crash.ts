/* What becomes of a run that was under way when the service ended. */
import { COST_UNKNOWN, tellsMoney } from '../runners/runners.ts';
import type { AgentRun, CarriedAttempt, RunDeadLetter } from '../../engine/storage/storage.ts';
import type { GatewayConfiguration } from './gateway-base.ts';
import type { RunError } from './run-ending.ts';
import { targetOf } from './run-turn.ts';

export const RUN_ENDED_BY_CRASH: RunError = {
  code: 'interrupted',
  message: 'the run was under way when the service ended; it may have acted',
};
export const ENDED_BEFORE: RunError = {
  code: 'interrupted',
  message: 'the service ended before the run had begun',
};
/** The error of a run whose worker is silent. */
export const silentWorker = ({ worker }: CarriedAttempt): RunError => ({
  code: 'interrupted',
  message: `the run was under way when its worker ${worker} fell silent; it may have acted`,
});
/** The end of the sentence where a run begins again only by hand. */
export const BEGUN_BY_HAND = '; sluice queue retry with its runId begins it again';

const takerOf = ({ action }: AgentRun, settings: GatewayConfiguration['settings']) =>
  settings.gateway.runners[targetOf(action, settings).runner];

/** Whether the run begins again only by hand: by its settings, or where its agent may change things. */
export function isBegunOnce(run: AgentRun, settings: GatewayConfiguration['settings']): boolean {
  const taker = takerOf(run, settings);
  const access = taker?.kind === 'agent' ? taker.access : run.carried?.access;
  const mayChange = access !== undefined && access !== 'read';
  return (run.action.afterCrash ?? (mayChange ? 'never' : 'again')) === 'never';
}

/** Whether the turn of a run may have begun: a command gets its prompt once its process is on record. */
export function mayHaveBegun(run: AgentRun, settings: GatewayConfiguration['settings']): boolean {
  const kind = takerOf(run, settings)?.kind;
  return run.process !== undefined || (kind !== 'agent' && kind !== 'command');
}

export function usedUntilCrash(
  run: AgentRun,
  settings: GatewayConfiguration['settings'],
): Pick<RunDeadLetter, 'usage' | 'runner'> {
  const taker = takerOf(run, settings);
  const tellsCost =
    taker?.kind === 'worker' || (taker !== undefined && taker.kind !== 'echo' && tellsMoney(taker));
  const { runner } = targetOf(run.action, settings);
  return { runner, ...(tellsCost && mayHaveBegun(run, settings) ? { usage: { isCostUnknown: true } } : {}) };
}

/** The error, which also says where the cost of the run is not known. */
export const withCost = ({ code, message }: RunError, { usage }: Pick<RunDeadLetter, 'usage'>): RunError => ({
  code,
  message: message + (usage?.isCostUnknown === true ? COST_UNKNOWN : ''),
});
