/* What becomes of a run that was under way when the service ended, or that its worker was not heard of any more. */
import { COST_UNKNOWN, getsPromptFile, tellsMoney } from '../runners/runners.ts';
import type { AgentRun, RunDeadLetter } from '../../engine/storage/storage.ts';
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
/** The end of the sentence where a run begins again only by hand. */
export const BEGUN_BY_HAND = '; sluice queue retry with its runId begins it again';

/** What its last turn used, where it had begun, and who took it. */
export type Used = Pick<RunDeadLetter, 'usage' | 'runner'>;

interface Crash {
  /** Whether the run begins again only by hand: by its settings, or where its agent may change things. */
  readonly isOnce: boolean;
  /** Whether its turn may have begun: a command gets its prompt once its process is on record. */
  readonly mayHaveBegun: boolean;
  readonly why: RunError;
  readonly used: Used;
}

/** What a run is, whose turn was cut off. */
export function crashOf(
  { action, carried, process }: AgentRun,
  settings: GatewayConfiguration['settings'],
): Crash {
  const { runner } = targetOf(action, settings);
  const taker = settings.gateway.runners[runner];
  const access = taker?.kind === 'agent' ? taker.access : carried?.access;
  const mayChange = access !== undefined && access !== 'read';
  const isRecorded = taker?.kind === 'agent' || (taker?.kind === 'command' && !getsPromptFile(taker));
  const mayHaveBegun = carried !== undefined || process !== undefined || !isRecorded;
  const isPaid =
    taker?.kind === 'worker' || (taker !== undefined && taker.kind !== 'echo' && tellsMoney(taker));
  const silence = `the run was under way when its worker ${carried?.worker} ended or fell silent; it may have acted`;
  return {
    isOnce: (action.retry?.afterCrash ?? action.afterCrash ?? (mayChange ? 'never' : 'again')) === 'never',
    mayHaveBegun,
    why: carried === undefined ? RUN_ENDED_BY_CRASH : { code: 'interrupted', message: silence },
    used: { runner, ...(isPaid && mayHaveBegun && { usage: { isCostUnknown: true } }) },
  };
}

/** The error, which also says where the cost of the run is not known. */
export const withCost = ({ code, message }: RunError, { usage }: Pick<Used, 'usage'>): RunError => ({
  code,
  message: message + (usage?.isCostUnknown === true ? COST_UNKNOWN : ''),
});
