import { defined } from '../../base/json.ts';
import { type NoteJson, type SettingJson, toNote, toSetting } from '../advice/requests.ts';
import type { KeptTrace } from '../../engine/hook/facts.ts';
import {
  decisionToJson,
  eventToJson,
  outboxToJson,
  runToJson,
  type DecisionJson,
  type EventJson,
  type OutboxJson,
  type RunJson,
} from '../../engine/storage/facts.ts';
import type { ExplanationJson } from './explain-request.ts';
import type { StoredExplanation } from './explain-stored.ts';

export interface StoredJson {
  readonly decision?: DecisionJson;
  readonly judged?: KeptTrace;
  readonly evaluation?: ExplanationJson;
  /** Settings that took part, with what each did, as they are now. */
  readonly settings: readonly SettingJson[];
  /**
   * Everything that the text says of the request beside the bare facts, in its order. `evaluation` has its own notes.
   */
  readonly notes: readonly NoteJson[];
  readonly runs: readonly (RunJson & { readonly outbox: readonly OutboxJson[] })[];
  readonly events: readonly EventJson[];
}

/**
 * Turns a stored request into plain data. Without `withText` all that comes from payloads is left out.
 * `evaluation` is the one of the stored request, and absent where it was not stored.
 */
export function storedToJson(
  { stored: { decision, runs, events }, judged, settings, findings }: StoredExplanation,
  evaluation: ExplanationJson | undefined,
  withText = true,
): StoredJson {
  return {
    ...(decision === undefined ? {} : { decision: decisionToJson(decision) }),
    ...defined({ judged, evaluation }),
    settings: settings.map(toSetting),
    notes: findings.map(toNote),
    runs: runs.map(({ run, outbox }) => ({
      ...runToJson(run, withText),
      outbox: outbox.map((entry) => outboxToJson(entry, withText)),
    })),
    events: events.map((event) => eventToJson(event, withText)),
  };
}
