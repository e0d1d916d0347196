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

/** What the store knows of a request, with how it was judged and would be judged now, as `explain --json` prints it. */
export interface StoredJson {
  readonly decision?: DecisionJson;
  readonly judged?: KeptTrace;
  readonly evaluation?: ExplanationJson;
  /** Settings that took part, with what each did, as they are now. */
  readonly settings: readonly SettingJson[];
  /** Everything that the text says of it beside the bare facts, in its order; that of `evaluation` is there. */
  readonly notes: readonly NoteJson[];
  readonly runs: readonly (RunJson & { readonly outbox: readonly OutboxJson[] })[];
  readonly events: readonly EventJson[];
}

/** Turns it into plain data; without `withText` what comes from payloads is left out. `evaluation` is that of the kept request, and absent where it was not kept. */
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
