import { expect } from 'vitest';
import { CHANNEL_IDS, type Action } from '../../src/base/action.ts';
import { parseDocument } from '../../src/base/document/facts.ts';
import { evaluate, isPause } from '../../src/engine/hook/evaluate.ts';
import type { RequestContent } from '../../src/engine/hook/ids.ts';
import { compileMappings } from '../../src/engine/mapping/compile.ts';
import { WORK_LIMITS } from '../../src/engine/mapping/facts.ts';
import type { HookError } from '../../src/base/errors.ts';
import {
  createHookRequest,
  MAX_ACTIONS,
  TRANSFORM_BUDGET_MS,
  type Evaluation,
  type EvaluationSettings,
} from '../../src/engine/hook/hook.ts';
import type { RoutingTable } from '../../src/engine/mapping/mapping.ts';
import type { JsonValue } from '../../src/base/request.ts';
import type { TransformCall, TransformReply } from '../../src/engine/sandbox/sandbox.ts';
import { said } from './said.ts';

export const receivedAt = Date.parse('2026-03-01T12:00:00Z');

/** The routing table of a YAML list of mappings; fails with the findings where there are errors. */
function tableOf(yaml: string): RoutingTable {
  const parsed = parseDocument({ file: 'mappings.yaml', text: yaml }, 'yaml');
  if (parsed.document === undefined) throw new Error(JSON.stringify(parsed.findings));
  const { root } = parsed.document;
  const count = (root.value as readonly unknown[]).length;
  const entries = Array.from({ length: count }, (_, index) => ({
    value: root.at([index]),
    behaviours: {},
  }));
  const { table, findings } = compileMappings(entries, {});
  if (table === undefined)
    throw new Error(findings.map(({ code, message }) => `${code} ${said(message)}`).join('\n'));
  return table;
}

/** EvaluationSettings with every default, over a table or a YAML list of mappings. */
export function settingsWith(
  over: Partial<Omit<EvaluationSettings, 'table'>> & { table?: RoutingTable | string } = {},
): EvaluationSettings {
  const { table = '[]', ...others } = over;
  return {
    table: typeof table === 'string' ? tableOf(table) : table,
    agents: { aliases: {}, models: undefined },
    channels: new Set(CHANNEL_IDS),
    lenient: false,
    unmatched: 'reject',
    defaults: { wakeMode: 'now', deliver: true, summary: 'always' },
    behaviours: {},
    hookAgents: { runners: {} },
    runDefaults: {},
    sessionKeys: { allowFromRequest: true, allowedPrefixes: [], shared: [] },
    limits: WORK_LIMITS,
    maxActions: MAX_ACTIONS,
    transformBudgetMs: TRANSFORM_BUDGET_MS,
    ...others,
  };
}

/** What a transform is taken to have answered: a JSON value, undefined, or a whole reply. */
export type Answer = { readonly value: JsonValue | undefined; readonly tookMs?: number } | TransformReply;

/** Evaluates a request, answering its transform calls one after the other. */
export function evaluateHook(
  content: Partial<RequestContent>,
  settings: EvaluationSettings,
  options: {
    readonly answer?: (call: TransformCall, number: number) => Answer;
    readonly detail?: 'brief' | 'full';
  } = {},
): { readonly evaluation: Evaluation; readonly calls: readonly TransformCall[]; readonly pauses: number } {
  const request = createHookRequest({ path: 'h', payload: {}, receivedAt, ...content });
  const steps = evaluate(request, settings, { detail: options.detail ?? 'full' });
  const calls: TransformCall[] = [];
  let step = steps.next();
  let pauses = 0;
  while (step.done !== true) {
    if (isPause(step.value)) {
      pauses += 1;
      step = steps.next();
      continue;
    }
    if (options.answer === undefined) throw new Error('an answer for the transform was not given');
    const answer = options.answer(step.value, calls.length);
    calls.push(step.value);
    step = steps.next('kind' in answer ? answer : replyOf(answer));
  }
  return { evaluation: step.value, calls, pauses };
}

function replyOf({
  value,
  tookMs = 1,
}: {
  readonly value: JsonValue | undefined;
  readonly tookMs?: number;
}): TransformReply {
  return {
    kind: 'ok',
    json: value === undefined ? undefined : JSON.stringify(value),
    logs: [],
    logsDropped: 0,
    tookMs,
  };
}

export function actionsOf({ outcome }: Evaluation): readonly Action[] {
  if (outcome.kind === 'rejected') throw outcome.error;
  expect(outcome.kind).toBe('accepted');
  return outcome.kind === 'accepted' ? outcome.actions : [];
}

export function actionOf(evaluation: Evaluation): Action {
  const actions = actionsOf(evaluation);
  expect(actions).toHaveLength(1);
  return actions[0]!;
}

export function errorOf({ outcome }: Evaluation): HookError {
  expect(outcome.kind).toBe('rejected');
  if (outcome.kind !== 'rejected') throw new Error('the request was not rejected');
  return outcome.error;
}
