import type { StartCheck } from '../../base/action.ts';
import type { Finding } from '../../base/finding.ts';
import type { FoundMark } from '../../base/conversation.ts';
import { NeutralisedTexts } from '../../base/boundary/boundary.ts';
import { WorkBudget, type CompiledMapping, type ConsideredMapping, type Scope } from '../mapping/mapping.ts';
import type { HookRequest } from '../../base/request.ts';
import { createRender, type Render } from './draft.ts';
import type { RenderedTemplate, TransformTrace, EvaluationSettings } from './evaluation.ts';

/** One evaluation under way: its request and rules, and what it has found so far. */
export interface EvaluationState {
  readonly request: HookRequest;
  readonly settings: EvaluationSettings;
  readonly full: boolean;
  readonly warnings: Finding[];
  readonly considered: ConsideredMapping[];
  readonly templates: RenderedTemplate[];
  readonly transforms: TransformTrace[];
  readonly render: Render;
  readonly work: WorkBudget;
  /** What templates and conditions of the whole request read. */
  readonly scope: Scope;
  /** Messages made safe so far: many actions may share one. */
  readonly neutralised: NeutralisedTexts;
  mapping: CompiledMapping | undefined;
  further: readonly CompiledMapping[];
  /** What `startedBy` of the mapping leaves open; undefined where the account may start it. */
  startedBy: StartCheck | undefined;
  /** The marks that count where they prove to be ours; `isOwn`: nothing else of the event counts. */
  marks: { readonly marks: readonly FoundMark[]; readonly isOwn: boolean };
  /** Other keys by scope and name, as dedupe keys are kept. */
  readonly keys: Map<Scope, Map<string, string>>;
  /** Dedupe keys by scope, so that each is made once. */
  readonly dedupeKeys: Map<Scope, string>;
  transformMs: number;
  /** What every transform call has of the request, as JSON; made on first use. */
  callJson: string | undefined;
}

/** Starts an evaluation; with `full` everything on the way is recorded. */
export function startEvaluation(
  received: HookRequest,
  settings: EvaluationSettings,
  full: boolean,
): EvaluationState {
  const templates: RenderedTemplate[] = [];
  const warnings: Finding[] = [];
  const work = new WorkBudget(settings.limits);
  const isEmpty = received.payload === null && settings.behaviours.readsGatewayBodies;
  const request = isEmpty ? { ...received, payload: {} } : received;
  return {
    request,
    settings,
    full,
    warnings,
    considered: [],
    templates,
    transforms: [],
    render: createRender(work, { templates, warnings, full }),
    work,
    scope: { request, work },
    neutralised: new NeutralisedTexts(),
    mapping: undefined,
    further: [],
    startedBy: undefined,
    marks: { marks: [], isOwn: false },
    keys: new Map(),
    dedupeKeys: new Map(),
    transformMs: 0,
    callJson: undefined,
  };
}
