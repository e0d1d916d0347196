import type { Warning } from '../action.ts';
import type { CompiledMapping, ConsideredMapping } from '../mapping/mapping.ts';
import type { HookRequest } from '../request.ts';
import { createRender, type Render } from './draft.ts';
import type { RenderedTemplate, TransformTrace } from './evaluation.ts';
import type { EvaluationSettings } from './evaluation-settings.ts';

/** One evaluation under way: its request and rules, and what it has found so far. */
export interface EvaluationState {
  readonly request: HookRequest;
  readonly settings: EvaluationSettings;
  readonly full: boolean;
  readonly warnings: Warning[];
  readonly considered: ConsideredMapping[];
  readonly templates: RenderedTemplate[];
  readonly transforms: TransformTrace[];
  readonly render: Render;
  mapping: CompiledMapping | undefined;
  transformMs: number;
  /** The constant part of every transform call's JSON, without its closing brace; made on first use. */
  callJson: string | undefined;
}

/** Starts an evaluation; with `full` everything on the way is recorded. */
export function startEvaluation(
  request: HookRequest,
  settings: EvaluationSettings,
  full: boolean,
): EvaluationState {
  const templates: RenderedTemplate[] = [];
  return {
    request,
    settings,
    full,
    warnings: [],
    considered: [],
    templates,
    transforms: [],
    render: createRender(full ? templates : undefined),
    mapping: undefined,
    transformMs: 0,
    callJson: undefined,
  };
}
