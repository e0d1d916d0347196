import type { HookError } from '../../errors.ts';
import type { RoutingTable } from '../../mapping/mapping.ts';
import type { HookRequest } from '../../request.ts';
import { sayFinding } from './decision-sentences.ts';
import { NO_ADVICE, type EvaluationAdvice } from './evaluation-advice.ts';
import { refusalFinding } from './refusal-notes.ts';

/** What to do about a body that could not be read. */
export function adviceOnUnread(
  { code, field, facts }: HookError,
  { path, headers, url }: HookRequest,
  table: RoutingTable,
): EvaluationAdvice {
  const found = refusalFinding({ code, field, name: path, method: 'POST', url, headers, facts }, table);
  const refused = found && sayFinding(found, { path, table });
  return refused === undefined ? NO_ADVICE : { ...NO_ADVICE, refused };
}
