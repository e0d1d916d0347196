import { styleText } from 'node:util';
import type { SeenRequest } from '../server/server.ts';
import { clearControl } from '../telemetry/telemetry.ts';
import { formatOneLine } from './terminal.ts';

/** What a hook became, in one line for the terminal of `sluice dev`; transform output follows on lines of its own. */
export function formatDecisionLine(decision: SeenRequest, color: boolean): string {
  const { request, evaluation, status, tookMs } = decision;
  const head = `${new Date(request.receivedAt).toISOString().slice(11, 19)}  ${status}  /${request.path}`;
  const line = `${head}  ${describe(decision)}  (${tookMs.toFixed(1)} ms, ${request.id})`;
  const notes = evaluation.trace.transforms.flatMap(({ reply }) => [
    ...reply.logs.map((entry) => `  | ${entry.level}: ${formatOneLine(entry.text, 200)}`),
    ...(reply.kind === 'failed' ? [`  ! ${reply.failure}: ${reply.stack ?? reply.message}`] : []),
  ]);
  const tone = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
  const cleared = clearControl(line);
  return [
    color ? styleText(tone, cleared, { validateStream: false }) : cleared,
    ...notes.map((note) => clearControl(note)),
  ].join('\n');
}

function describe({ evaluation }: SeenRequest): string {
  const { outcome, mapping } = evaluation;
  const by = mapping === undefined ? '' : `${mapping.id} → `;
  switch (outcome.kind) {
    case 'accepted':
      return outcome.actions
        .slice(0, 3)
        .map((action) =>
          action.kind === 'wake'
            ? `${by}wake (${action.mode}) “${formatOneLine(action.text, 60)}”`
            : `${by}agent ${action.name} [${formatOneLine(action.sessionKey, 40)}] “${formatOneLine(action.message, 60)}”`,
        )
        .concat(outcome.actions.length > 3 ? [`and ${outcome.actions.length - 3} more`] : [])
        .join('; ');
    case 'skipped':
      return `${by}skipped by ${outcome.by}`;
    case 'rejected':
      return `${by}${outcome.error.code}: ${outcome.error.detail}`;
  }
}
