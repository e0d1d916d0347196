import type { HookError } from '../../errors.ts';
import type { RoutingTable } from '../../mapping/mapping.ts';
import type { HookRequest } from '../../request.ts';
import { sayFinding } from './decision-words.ts';
import type { EvaluationAdvice } from './evaluation-advice.ts';
import { refusalFinding } from './refusal-notes.ts';

/** What to do about a body that could not be read. */
export function adviceOnUnread(
  { code, field, facts }: HookError,
  { path, headers, url }: HookRequest,
  table: RoutingTable,
): EvaluationAdvice {
  const found = refusalFinding({ code, field, name: path, method: 'POST', url, headers, facts }, table);
  const refused = found && sayFinding(found, { path, table });
  return {
    nearNames: [],
    instead: new Map(),
    foundAt: new Map(),
    alsoMatched: [],
    ...(refused === undefined ? {} : { refused }),
  };
}
