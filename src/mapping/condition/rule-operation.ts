import { say } from '../../finding.ts';
import type { Finding, LocatedValue, Path } from '../../document/document.ts';
import { isJsonObject } from '../../json.ts';
import type { RuleFacts } from '../finding-facts.ts';
import { MAX_CONDITION_DEPTH, operationOf, operationProblem, type Operation } from './condition-check.ts';

/** The file a rule is read from, and where findings go. */
export interface RuleSource {
  readonly located: LocatedValue;
  readonly diagnostics: Finding[];
}

/** The rule in a value, if it is one and has no error. */
export function readOperation(
  { located, diagnostics }: RuleSource,
  value: unknown,
  path: Path,
): Operation | undefined {
  if (!isJsonObject(value)) return undefined;
  const at = located.place(path);
  if (path.filter((step) => typeof step === 'string').length >= MAX_CONDITION_DEPTH) {
    // Once for a condition.
    if (!diagnostics.some(({ code }) => code === 'CONDITION_TOO_DEEP'))
      diagnostics.push({
        severity: 'error',
        code: 'CONDITION_TOO_DEEP',
        message: say`the condition is nested deeper than ${MAX_CONDITION_DEPTH} operators`,
        at,
      });
    return undefined;
  }
  const operation = operationOf(value);
  const keyAt = () => located.place([...path, operation?.operator ?? ''], 'key');
  const problem = operationProblem(value, operation, { at, keyAt });
  if (problem === undefined) return operation;
  diagnostics.push({ ...problem, facts: { located, path, rule: value } satisfies RuleFacts });
  return undefined;
}
