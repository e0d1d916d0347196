import { defined } from '../../base/json.ts';
import type { Action, AgentAction, RunAction, WakeAction } from '../../base/action.ts';
import { BOUNDARY } from '../../base/boundary/boundary.ts';
import { printYaml } from '../../base/document/document.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';
import { MAPPING_KEYS } from '../../engine/mapping/mapping.ts';

/**
 * What an expectation file says of one delivery: plain data, printed as YAML that a person can review. It holds codes,
 * fields, the operator's text and the sender's, and no sentence of Sluice, because a new version may change those.
 */
export type Expectation = Readonly<Record<string, unknown>>;

/**
 * What the store made of a delivery in a case of several: the answer's `duplicate`, and the actions that were left out.
 */
export interface AcceptedAs {
  readonly duplicate: boolean;
  /** 0-based positions of actions left out as duplicates. */
  readonly duplicates: readonly number[];
  /** For each action the session key of the conversation that there was, or why it came to none. */
  readonly conversations?: readonly (string | undefined | { readonly without: 'waiting' | 'none' | 'own' })[];
  readonly error?: { readonly status: number; readonly code: string };
}

/** The form of expectation files that this version writes; `run-cases.ts` reads files without it. */
export const FORMAT = 1;

const HEADER =
  '# Written by `sluice test`; review it, do not edit it. `sluice test --update` writes it anew.\n';

/** Describes what a delivery became, without ids, times and positions. */
export function describeEvaluation(evaluation: Evaluation, accepted?: AcceptedAs): Expectation {
  const { outcome, mapping, further, warnings, trace } = evaluation;
  const taken = mapping === undefined ? [] : [mapping, ...(further ?? [])];
  return {
    outcome: accepted?.error === undefined ? outcome.kind : 'rejected',
    ...defined({ mapping: mapping?.id, further: further?.map(({ id }) => id) }),
    // A repeat does nothing, so its actions are left out.
    ...(accepted?.duplicate === true
      ? { duplicate: true }
      : (accepted?.error ?? describeOutcome(outcome, taken, accepted))),
    ...((accepted?.duplicates.length ?? 0) > 0 ? { duplicates: accepted?.duplicates } : {}),
    ...(warnings.length === 0
      ? {}
      : { warnings: warnings.map(({ code, subject }) => defined({ code, field: subject?.field })) }),
    ...describeTrace(trace),
  };
}

function describeTrace({ templates, transforms }: Evaluation['trace']): Expectation {
  const empty = templates.flatMap(({ field, index, empty: found }) =>
    found.map(({ expression }) => `${field}${index === undefined ? '' : `[${index}]`}: ${expression}`),
  );
  const logs = transforms.flatMap(({ reply }) => reply.logs.map((line) => `${line.level}: ${line.text}`));
  const failures = transforms.flatMap(describeFailure);
  return {
    ...(empty.length === 0 ? {} : { empty: [...new Set(empty)] }),
    ...(logs.length === 0 ? {} : { logs }),
    // Without the failure, a transform that fails for another reason than the intended one would pass.
    ...(failures.length === 0 ? {} : { failures }),
  };
}

function describeFailure({
  call,
  reply,
  problem,
  mappingKey: key,
}: Evaluation['trace']['transforms'][number]): readonly Expectation[] {
  const { module } = call.ref;
  if (problem !== undefined) return [{ module, code: WRONG_RESULT, ...defined({ key }) }];
  if (reply.kind === 'ok') return [];
  const { failure: code, name, message } = reply;
  // The author's code wrote this message.
  const error = code === 'user-error' ? `${name === undefined ? '' : `${name}: `}${message}` : undefined;
  return [{ module, code, ...defined({ error }) }];
}

/** A transform ran, and its result makes no action. */
export const WRONG_RESULT = 'wrong-result';

function describeOutcome(
  outcome: Evaluation['outcome'],
  taken: readonly MatchedMapping[],
  accepted?: AcceptedAs,
): Record<string, unknown> {
  switch (outcome.kind) {
    case 'accepted':
      return {
        actions: outcome.actions.map((action, index) => ({
          ...describeActionOf(action, taken),
          ...describeConversation(accepted?.conversations?.[index]),
        })),
      };
    case 'skipped':
      return { by: outcome.by };
    case 'rejected': {
      const { status, code, field, errors } = outcome.error;
      const parts = errors.map(({ code: one, subject }) => ({ code: one, ...subject }));
      return { status, code, ...defined({ field }), ...(parts.length === 0 ? {} : { errors: parts }) };
    }
  }
}

/** The conversation that an event came to, or why it came to none. */
const describeConversation = (
  found: NonNullable<AcceptedAs['conversations']>[number],
): Record<string, unknown> => (typeof found === 'string' ? { cameTo: found } : { ...found });

type MatchedMapping = Pick<NonNullable<Evaluation['mapping']>, 'id' | 'instructions' | 'limits'>;

/** Where several mappings matched the request, each action names its mapping. */
function describeActionOf(action: Action, taken: readonly MatchedMapping[]): Record<string, unknown> {
  const own = taken.find(({ id }) => id === action.origin.mappingId);
  const described = describeAction(action, own);
  return taken.length < 2 ? described : { ...defined({ mapping: own?.id }), ...described };
}

function describeAction(action: Action, own: MatchedMapping | undefined): Record<string, unknown> {
  switch (action.kind) {
    case 'wake':
      return describeWake(action);
    case 'notify':
      return { action: 'notify', ...describeKeys(action), message: action.message };
    case 'agent':
      return describeRun(action, own);
  }
}

function describeWake(action: WakeAction): Record<string, unknown> {
  const { mode, text, origin, dedupe, startedBy } = action;
  return {
    action: 'wake',
    mode,
    text,
    ...(origin.trusted ? { trusted: true } : {}),
    ...(dedupe === undefined ? {} : { dedupe: dedupe.key }),
    ...defined({ startedBy: startedBy && MAPPING_KEYS.get('startedBy')?.golden?.(startedBy, action) }),
  };
}

function describeRun(action: AgentAction, own: MatchedMapping | undefined): Record<string, unknown> {
  const { instructions = '', limits: { usdPerDay } = {} } = own ?? {};
  const { message, origin } = action;
  return {
    action: 'agent',
    ...describeKeys(action),
    ...(usdPerDay === undefined ? {} : { limits: { usdPerDay } }),
    ...(origin.trusted ? { trusted: true } : {}),
    ...(instructions.trim() === '' ? {} : { instructions: instructions.trim() }),
    ...(origin.trusted ? {} : defined({ boundary: BOUNDARY, source: origin.source })),
    message,
  };
}

function describeKeys(action: RunAction): Record<string, unknown> {
  const described = [...MAPPING_KEYS].map(([key, { actions, golden = (value: unknown) => value }]) => {
    const value: unknown = action[key as keyof RunAction];
    return [
      key,
      value === undefined || actions?.includes(action.kind) === false ? undefined : golden(value, action),
    ];
  });
  return defined(Object.fromEntries(described));
}

/** Returns the whole of an expectation file as data. */
export function wholeExpectation(deliveries: readonly Expectation[], isList: boolean): Expectation {
  return { format: FORMAT, ...(isList ? { deliveries } : deliveries[0]) };
}

/** Prints the expectation file of a case. */
export const printExpectation = (whole: unknown): string => HEADER + printYaml(whole);
