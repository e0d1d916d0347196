/** Edits of rules: the whole rule anew, in one line that YAML and JSON both take, unless comments would be lost. */
import { SWAPPED } from './dialects/operators.ts';
import type { Place } from '../../base/document/document.ts';
import type { TextEdit } from '../../base/finding.ts';
import { isJsonText } from '../../base/json.ts';
import { type Operation } from '../../engine/mapping/facts.ts';

/** Every text holds an empty one: a swap would make a rule that always holds. */
export const asksForEmpty = ({ operator, operands }: Operation): boolean =>
  operands.includes('') && (operator === 'in' || SWAPPED.has(operator));

/** Two operands of an operator that takes them the other way round than ours. */
export function isRenamedSwap({ operator, operands, unary }: Operation): boolean {
  return SWAPPED.has(operator) && !unary && operands.length === 2;
}

/** Without the line ends and spaces behind a block. */
function trimmed(at: Place): Place {
  const written = at.source.text.slice(at.start, at.end);
  return { ...at, end: at.start + written.trimEnd().length };
}

/** The edit that puts a rule in place of one as it is written. */
export function wholeRule(place: Place, rule: string | undefined): TextEdit | undefined {
  const at = trimmed(place);
  const written = at.source.text.slice(at.start, at.end);
  const hasComment = /(?:^|\s)#|\/[/*]/m.test(written) && written.includes('\n');
  return rule === undefined || hasComment || !isJsonText(rule) ? undefined : { at, text: rule };
}
