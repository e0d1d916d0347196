/* What is said of a request that was answered, from what the store knows of it, for whoever shows it. */
import type { LoadedConfig } from '../../engine/config/config.ts';
import { createHookRequest, evaluationToJson, readKeptRequest } from '../../engine/hook/hook.ts';
import type { KeptTrace } from '../../engine/hook/facts.ts';
import type { StoredRequest } from '../../engine/storage/facts.ts';
import { evaluationFindings, isAdvice, isHint, isOfKind, placeOf } from '../advice/requests.ts';
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
import { isBeforeMappings, isToldBefore, storedNotes } from './stored-notes.ts';

/** What explains a stored request. */
export interface StoredSources {
  readonly keepRequests: LoadedConfig['settings']['storage']['keepRequests'];
  /** Absent where the files have errors now. */
  readonly explainer?: Explainer | undefined;
  /** The mappings and transforms that judged it, where they are no longer those of now and were kept. */
  readonly before?: Explainer | undefined;
  /** What was sent is kept, and who asks may not see it. */
  readonly isHidden?: boolean;
  /** Settings that may have taken part; those of the explainer where absent. */
  readonly settings?: Pick<RequestHistory, 'config' | 'table'> | undefined;
}

/** A request that was answered, with all that is said of it. */
export interface StoredExplanation {
  readonly stored: StoredRequest;
  /** As it was kept; absent where it was not. */
  readonly request: HookRequest | undefined;
  /** How it was judged when it came. */
  readonly judged: KeptTrace | undefined;
  /** What the mappings that judged it make of it, or those of now; of a name that no mapping took without its content. */
  readonly explained: RequestExplanation | undefined;
  /** Whether it is explained by the mappings that judged it, which are others now. */
  readonly isByThen: boolean;
  /** Whether the files are needed to say more, and have errors. */
  readonly lacksFiles: boolean;
  /** Settings that took part, as they are now. */
  readonly settings: readonly Finding[];
  readonly findings: readonly Finding[];
}

/** Explains what the store knows: how it was judged, how it would be judged now, and everything that is said of both. */
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
    explained: explained && withoutTold(explained, settings),
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
      judged: before === undefined || explained === undefined ? judged : judgedThen(explained, decision),
      today,
      explained,
      table: happened?.table,
    }),
  };
}

/** As it is judged by the mappings that judged it when it came. */
const judgedThen = ({ evaluation }: RequestExplanation, decision: DecisionRecord | undefined): KeptTrace => ({
  ...evaluationToJson(evaluation),
  generation: decision?.generation ?? '',
});

/** What is said of the stored request stands at its end, and not in its middle, too. */
function withoutTold(explained: RequestExplanation, told: readonly Finding[]): RequestExplanation {
  const keyOf = (each: Finding): string => `${each.subject?.setting ?? ''} ${placeOf(each) ?? ''}`;
  const said = new Set(told.filter((each) => !isToldBefore(each)).map(keyOf));
  const { settings = [] } = explained.advice;
  const advice = { ...explained.advice, settings: settings.filter((each) => !said.has(keyOf(each))) };
  return { ...explained, advice };
}

/** Of a name that no mapping takes only the name is kept, and it says all. */
function nameOnly(decision: DecisionRecord | undefined): HookRequest | undefined {
  return decision?.code === 'no_mapping_matched' && isBeforeMappings(decision)
    ? createHookRequest({ path: decision.path, payload: {}, receivedAt: 0 })
    : undefined;
}

/** The hints of its settings, and of the request itself where it was taken; the surest first. */
export function allHints({ settings, explained }: StoredExplanation): readonly Finding[] {
  const ofSettings = [...settings, ...(explained?.advice.settings ?? [])].filter(isHint);
  if (explained?.evaluation.outcome.kind !== 'accepted') return ofSettings;
  const findings = evaluationFindings(explained.evaluation, explained.advice);
  const isWhole = !findings.some(({ code }) => code === 'rendered_empty');
  return isWhole
    ? [...ofSettings, ...findings.filter((each) => isAdvice(each) && !isOfKind(each))]
    : ofSettings;
}
