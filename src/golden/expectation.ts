import { defined } from '../json.ts';
import type { Action, AgentAction, NotifyAction, WakeAction, Warning } from '../action.ts';
import { printYaml } from '../document/document.ts';
import type { Evaluation } from '../hook/hook.ts';

/** What an expectation file says of one delivery: plain data, printed as YAML that a person can review. */
export type Expectation = Readonly<Record<string, unknown>>;

/** What the store made of a delivery in a case of several: the answer's `duplicate` and the actions it left out. */
export interface AcceptedAs {
  readonly duplicate: boolean;
  /** 0-based positions of actions left out as duplicates. */
  readonly duplicates: readonly number[];
  /** Set where the store refused it, e.g. `idempotency_mismatch`. */
  readonly error?: { readonly status: number; readonly code: string };
}

/** How the file of an expectation begins that no person wrote. */
export const WRITTEN_BY = '# Written by `sluice test`';

const HEADER = WRITTEN_BY + '; review it, do not edit it. `sluice test --update` writes it anew.\n';

/** Says what a delivery became, without ids, times and positions, which change when nothing that matters does. */
export function describeEvaluation(evaluation: Evaluation, accepted?: AcceptedAs): Expectation {
  const { outcome, mapping, warnings, trace } = evaluation;
  return {
    outcome: accepted?.error === undefined ? outcome.kind : 'rejected',
    ...(mapping === undefined ? {} : { mapping: mapping.id }),
    // A repeat does nothing, so its actions are left out.
    ...(accepted?.duplicate === true ? { duplicate: true } : (accepted?.error ?? describeOutcome(outcome))),
    ...((accepted?.duplicates.length ?? 0) > 0 ? { duplicates: accepted?.duplicates } : {}),
    ...(warnings.length === 0 ? {} : { warnings: warnings.map(describeWarning) }),
    ...describeTrace(trace),
  };
}

/** What templates did not find, and what transforms said. */
function describeTrace({ templates, transforms }: Evaluation['trace']): Expectation {
  const empty = templates.flatMap(({ field, index, empty: found }) =>
    found.map(({ expression }) => `${field}${index === undefined ? '' : `[${index}]`}: ${expression}`),
  );
  const logs = transforms.flatMap(({ reply }) => reply.logs.map((line) => `${line.level}: ${line.text}`));
  const failures = transforms.flatMap(describeFailure);
  return {
    ...(empty.length === 0 ? {} : { empty: [...new Set(empty)] }),
    ...(logs.length === 0 ? {} : { logs }),
    // Without it a transform that fails for another reason than the one meant would pass.
    ...(failures.length === 0 ? {} : { failures }),
  };
}

function describeFailure({
  call,
  reply,
  problem,
}: Evaluation['trace']['transforms'][number]): readonly string[] {
  if (problem !== undefined) return [`${call.ref.module}: ${problem}`];
  if (reply.kind === 'ok') return [];
  const { failure, name, message } = reply;
  return [`${call.ref.module}: ${failure}: ${name === undefined ? '' : `${name}: `}${message}`];
}

function describeOutcome(outcome: Evaluation['outcome']): Record<string, unknown> {
  switch (outcome.kind) {
    case 'accepted':
      return { actions: outcome.actions.map(describeAction) };
    case 'skipped':
      return { by: outcome.by };
    case 'rejected': {
      const { error } = outcome;
      return {
        status: error.status,
        code: error.code,
        detail: error.detail,
        ...(error.errors.length === 0 ? {} : { errors: error.errors }),
      };
    }
  }
}

function describeAction(action: Action): Record<string, unknown> {
  switch (action.kind) {
    case 'wake':
      return describeWake(action);
    case 'notify':
      return describeNotification(action);
    case 'agent':
      return describeRun(action);
  }
}

function describeWake({ mode, text, origin, dedupe }: WakeAction): Record<string, unknown> {
  return {
    action: 'wake',
    mode,
    text,
    ...(origin.trusted ? { trusted: true } : {}),
    ...(dedupe === undefined ? {} : { dedupe: dedupe.key }),
  };
}

function describeNotification(action: NotifyAction): Record<string, unknown> {
  const { name, channel, to, summary, fallback, dedupe, message } = action;
  const settings = {
    to,
    summary: summary === 'never' ? summary : undefined,
    fallback,
    dedupe: dedupe?.key,
  };
  return { action: 'notify', name, channel, ...defined(settings), message };
}

function describeRun(action: AgentAction): Record<string, unknown> {
  const { name, wakeMode, sessionKey, oneShot, deliver, channel, prompt } = action;
  return {
    action: 'agent',
    name,
    wakeMode,
    sessionKey: oneShot ? 'hook:<uuid>' : sessionKey,
    deliver,
    channel,
    ...defined(settingsOfRun(action)),
    ...(action.origin.trusted ? { trusted: true } : {}),
    prompt,
  };
}

/** What a run has only where the mapping or the request says it. */
function settingsOfRun(action: AgentAction): Record<string, unknown> {
  const { to, model, thinking, timeoutSeconds, summary, runner, cwd, fallback, callbackUrl } = action;
  const { dedupe, debounce } = action;
  return {
    to,
    model,
    thinking,
    timeoutSeconds,
    summary,
    runner,
    cwd,
    fallback,
    callbackUrl,
    dedupe: dedupe?.key,
    debounce: debounce && { key: debounce.key, seconds: debounce.seconds, maxSeconds: debounce.maxSeconds },
  };
}

const describeWarning = (warning: Warning): string =>
  `${warning.code}${warning.field === undefined ? '' : ` ${warning.field}`}: ${warning.message}`;

/** Prints the expectation file of a case. */
export function printExpectation(deliveries: readonly Expectation[], several: boolean): string {
  return HEADER + printYaml(several ? { deliveries } : (deliveries[0] ?? {}));
}
