import type { KeptTrace } from '../hook/hook.ts';
import {
  eventToJson,
  outboxToJson,
  runToJson,
  type DecisionRecord,
  type StoredRequest,
} from '../storage/storage.ts';
import type { ExplanationJson } from './explain-request.ts';
import type { SettingNote } from './setting-notes.ts';

/** What the store knows of a request, with how it was judged and would be judged now, as `explain --json` prints it. */
export interface StoredJson {
  readonly decision?: DecisionRecord;
  readonly judged?: KeptTrace;
  readonly evaluation?: ExplanationJson;
  /** Settings that took part, with what each did, as they are now. */
  readonly settings: readonly SettingNote[];
  readonly runs: readonly object[];
  readonly events: readonly object[];
}

/** How a request was judged, and how it would be judged now. */
interface Judgements {
  readonly judged: KeptTrace | undefined;
  readonly evaluation: ExplanationJson | undefined;
  readonly settings: readonly SettingNote[];
}

/** Turns it into plain data; `evaluation` is absent where the request was not kept. */
export function storedToJson(
  { decision, runs, events }: StoredRequest,
  { judged, evaluation, settings }: Judgements,
): StoredJson {
  return {
    ...(decision === undefined ? {} : { decision }),
    ...(judged === undefined ? {} : { judged }),
    ...(evaluation === undefined ? {} : { evaluation }),
    settings,
    runs: runs.map(({ run, outbox }) => ({
      ...runToJson(run, true),
      outbox: outbox.map((entry) => outboxToJson(entry, true)),
    })),
    events: events.map((event) => eventToJson(event, true)),
  };
}
