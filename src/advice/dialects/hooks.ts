/* Keys of other tools that are one mistake together: a hook of adnanh/webhook. */
import { printRule } from '../rule-parts.ts';
import { alike, type KeyAdvice } from '../schema-words.ts';
import { isJsonObject } from '../../json.ts';
import { isOperatorName } from './operators.ts';
import { foreignCondition } from './condition-objects.ts';

/** The rule that a condition of another tool means, or a rule of ours. */
export function ruleOfOthers(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const [name = '', ...more] = Object.keys(value);
  return (
    foreignCondition(value)?.rule ??
    (more.length === 0 && isOperatorName(name) ? printRule(value) : undefined)
  );
}

const hook: KeyAdvice = {
  group: 'adnanh',
  hint: 'this is a hook of adnanh/webhook: here a mapping has match: {path: name} and messageTemplate, what trigger-rule asks belongs in match.when, and the command is a runner, gateway.runners: {name: {kind: command, argv: [./script.sh]}}',
};

/** Keys of a hook of adnanh/webhook: together they are one mistake. */
export const ADNANH: Readonly<Record<string, KeyAdvice>> = alike(
  'execute-command command-working-directory trigger-rule pass-arguments-to-command pass-environment-to-command pass-file-to-command response-message response-headers include-command-output-in-response include-command-output-in-response-on-error http-methods incoming-payload-content-type parse-parameters-as-json trigger-rule-mismatch-http-response-code trigger-signature-soft-failures success-http-response-code',
  hook,
);
