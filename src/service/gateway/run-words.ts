/* How the log and the alerts tell of a run. */
import type { TurnResult } from '../runners/runners.ts';
import type { AlertSubject } from './alerts.ts';
import { shownError } from './summary.ts';

/** Why nothing of a reply is seen. */
function noteOn(reply: string, canReply: boolean): string {
  if (reply.trim() === '') return '; its reply is empty';
  return canReply ? '' : '; its reply is stored, as no channel is configured';
}

/** How the log and the alerts tell of a turn. */
export function toldOf(
  result: TurnResult,
  canReply: boolean,
): {
  readonly what: string;
  readonly isWell: boolean;
  readonly said: string;
  readonly code: string | undefined;
  readonly reason: string | undefined;
} {
  const error = result.kind === 'completed' ? result.error : result;
  const shown = error === undefined ? undefined : shownError(error);
  const why = { code: shown?.code, reason: shown?.message };
  if (result.kind === 'not-started')
    return { what: result.kind, isWell: false, said: 'run not started', ...why };
  const isWell = result.outcome === 'ok' || result.outcome === 'forwarded';
  const performed = `run performed${result.outcome === 'ok' ? noteOn(result.reply, canReply) : ''}`;
  return { what: result.outcome, isWell, said: isWell ? performed : 'run failed', ...why };
}

export function subjectsOf(runner: string, mappingId: string | undefined): readonly AlertSubject[] {
  const subject = { kind: 'runner', name: runner } as const;
  return mappingId === undefined ? [subject] : [subject, { kind: 'mapping', name: mappingId }];
}
