/** Explains a request that was answered, from what the store knows of it. */
import type { LoadedConfig } from '../../engine/config/config.ts';
import { createHookRequest, evaluationToJson, readKeptRequest } from '../../engine/hook/hook.ts';
import type { KeptTrace } from '../../engine/hook/facts.ts';
import type { StoredRequest } from '../../engine/storage/facts.ts';
import { placeOf } from '../advice/requests.ts';
import type { Finding } from '../../base/finding.ts';
import type { HookRequest } from '../../base/request.ts';
import type { DecisionRecord } from '../../engine/storage/storage.ts';
import {
  explainRequest,
  explainWritten,
  type Explainer,
  type RequestExplanation,
} from './explain-request.ts';
import { settingNotes, type RequestHistory } from './setting-notes.ts';
import { isBeforeMappings, isReportedBefore, storedNotes } from './stored-notes.ts';

export interface StoredSources {
  readonly keepRequests: LoadedConfig['settings']['storage']['keepRequests'];
  /** Absent where the files have errors now. */
  readonly explainer?: Explainer | undefined;
  /** The mappings and transforms that judged the request, where they have changed since and were stored. */
  readonly before?: Explainer | undefined;
  /** What was sent is stored, but the reader may not see it. */
  readonly isHidden?: boolean;
  /** Settings that may have taken part; the default is those of the explainer. */
  readonly settings?: Pick<RequestHistory, 'config' | 'table'> | undefined;
}

export interface StoredExplanation {
  readonly stored: StoredRequest;
  /** The request as it was stored; absent where it was not. */
  readonly request: HookRequest | undefined;
  readonly judged: KeptTrace | undefined;
  /**
   * What the mappings that judged the request make of it, or those of now. The content is missing for a
   * name that no mapping matched.
   */
  readonly explained: RequestExplanation | undefined;
  /** Whether the mappings that judged the request explain it, and have changed since. */
  readonly isByThen: boolean;
  /** Whether the files are needed to say more, and have errors. */
  readonly lacksFiles: boolean;
  readonly settings: readonly Finding[];
  readonly findings: readonly Finding[];
}

/** Explains what the store knows: how the request was judged, how it would be judged now, and what is said of both. */
export async function explainStored(
  stored: StoredRequest,
  { keepRequests, explainer: now, before, isHidden, settings: given }: StoredSources,
): Promise<StoredExplanation> {
  const { decision, kept } = stored;
  const read = kept === undefined ? undefined : readKeptRequest(kept);
  const { request, judged } = read ?? {};
  const asked = request ?? nameOnly(decision);
  const explainer = before ?? now;
  const explainBy = async (by: Explainer | undefined): Promise<RequestExplanation | undefined> =>
    asked === undefined || by === undefined
      ? undefined
      : read?.unread === undefined
        ? explainRequest(asked, by, read?.results)
        : explainWritten({ request: asked, rawBody: read.unread }, by);
  const explained = await explainBy(explainer);
  const today = before === undefined ? explained : await explainBy(now);
  const happened = given ?? explainer?.generation;
  const settings =
    happened === undefined ? [] : settingNotes({ config: happened.config, table: happened.table, stored });
  return {
    stored,
    request,
    judged,
    explained: explained && withoutReported(explained, settings),
    isByThen: before !== undefined && explained !== undefined,
    lacksFiles: asked !== undefined && now === undefined,
    settings,
    findings: storedNotes({
      decision,
      work: stored,
      keepRequests,
      isHidden,
      settings,
      request,
      judged:
        before === undefined || explained === undefined
          ? judged
          : { ...evaluationToJson(explained.evaluation), generation: decision?.generation ?? '' },
      today,
      explained,
      table: happened?.table,
    }),
  };
}

/** Findings of the stored request stand at the end, and not in the middle as well. */
function withoutReported(explained: RequestExplanation, reported: readonly Finding[]): RequestExplanation {
  const keyOf = (each: Finding): string => `${each.subject?.setting ?? ''} ${placeOf(each) ?? ''}`;
  const said = new Set(reported.filter((each) => !isReportedBefore(each)).map(keyOf));
  const findings = explained.advice.findings.filter(
    (each) => each.code !== 'setting' || !said.has(keyOf(each)),
  );
  return { ...explained, advice: { ...explained.advice, findings } };
}

/** For a name that no mapping matches, the store keeps only the name. */
function nameOnly(decision: DecisionRecord | undefined): HookRequest | undefined {
  return decision?.code === 'no_mapping_matched' && isBeforeMappings(decision)
    ? createHookRequest({ path: decision.path, payload: {}, receivedAt: 0 })
    : undefined;
}
