/* Keys of other tools that are one mistake together: a hook of adnanh/webhook, and `on:` of GitHub Actions. */
import { printRule } from '../rule-parts.ts';
import { alike, type KeyAdvice } from '../schema-words.ts';
import { isJsonObject, isScalar } from '../../json.ts';
import { isOperatorName } from './operators.ts';
import { foreignCondition } from './condition-objects.ts';

/** Longer lines are not written out. */
const MAX_SHOWN = 400;

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

/** `on: push`, `on: [push]` and `on: {pull_request: {types: [opened]}}` as a condition on what GitHub sends. */
export function githubEvents(value: unknown): string | undefined {
  const named = typeof value === 'string' ? [value] : value;
  const events: Readonly<Record<string, unknown>> = Array.isArray(named)
    ? Object.fromEntries(named.map((name) => [String(name), null]))
    : isJsonObject(named)
      ? named
      : {};
  const rules = Object.entries(events).map(([name, filter]) => eventRule(name, filter));
  if (rules.length === 0 || rules.includes(undefined)) return undefined;
  const rule = printRule(rules.length === 1 ? rules[0] : { or: rules });
  return rule.length > MAX_SHOWN
    ? undefined
    : `which events are taken says the condition: in place of it write when: ${rule} in match`;
}

const HEADER = { var: 'headers.x-github-event' };

function eventRule(name: string, filter: unknown): object | undefined {
  if (!/^[a-z_]{3,40}$/.test(name)) return undefined;
  const isEvent = { '===': [HEADER, name] };
  if (filter === null || filter === true) return isEvent;
  if (!isJsonObject(filter)) return undefined;
  const parts = Object.entries(filter).map(([key, values]) => filterRule(name, key, values));
  return parts.includes(undefined) ? undefined : { and: [isEvent, ...parts] };
}

/** `types` and `branches`, without patterns. */
function filterRule(event: string, key: string, values: unknown): object | undefined {
  const words = (Array.isArray(values) ? values : [values]).map(String);
  if (words.length === 0 || !words.every((word) => isScalar(word) && /^[\w./-]+$/.test(word)))
    return undefined;
  const isOneOf = (name: string, wanted: readonly string[]): object =>
    wanted.length === 1 ? { '===': [{ var: name }, wanted[0]] } : { in: [{ var: name }, wanted] };
  if (key === 'types') return isOneOf('action', words);
  if (key !== 'branches') return undefined;
  return event === 'push'
    ? isOneOf(
        'ref',
        words.map((word) => `refs/heads/${word}`),
      )
    : isOneOf('pull_request.base.ref', words);
}
