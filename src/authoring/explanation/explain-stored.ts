/* What is said of a request that was answered, from what the store knows of it, for whoever shows it. */
import type { LoadedConfig } from '../../engine/config/config.ts';
import { createHookRequest, evaluationToJson, readKeptRequest } from '../../engine/hook/hook.ts';
import type { KeptTrace } from '../../engine/hook/facts.ts';
import type { StoredRequest } from '../../engine/storage/facts.ts';
import {
  type EvaluationNote,
  type SettingText,
  adviceIn,
  evaluationNotes,
  settingNote,
} from '../advice/requests.ts';
import type { HookRequest } from '../../base/request.ts';
import type { DecisionRecord, KeptRequest, Storage } from '../../engine/storage/storage.ts';
import {
  explainRequest,
  explainWritten,
  type Explainer,
  type RequestExplanation,
} from './explain-request.ts';
import { withUnsigned } from './unsigned-fields.ts';
import { keyNotes, type Judged } from './key-notes.ts';
import { settingNotes, type Happened } from './setting-notes.ts';
import { isBeforeMappings, repeatedOf, storedNotes, TOLD_BEFORE } from './stored-notes.ts';

/** What explains a stored request. */
export interface StoredSources {
  readonly keepRequests: LoadedConfig['settings']['storage']['keepRequests'];
  /** Requests that were kept beside it, the newest first. */
  readonly others: readonly KeptRequest[];
  /** Absent where the files have errors now. */
  readonly explainer?: Explainer | undefined;
  /** The mappings and transforms that judged it, where they are no longer those of now and were kept. */
  readonly before?: Explainer | undefined;
  /** What was sent is kept, and who asks may not see it. */
  readonly isHidden?: boolean;
  /** Settings that may have taken part; those of the explainer where absent. */
  readonly settings?: Pick<Happened, 'config' | 'table'> | undefined;
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
  readonly settings: readonly SettingText[];
  readonly notes: readonly EvaluationNote[];
}

/** Explains what the store knows: how it was judged, how it would be judged now, and everything that is said of both. */
export async function explainStored(
  stored: StoredRequest,
  { keepRequests, others, explainer: now, before, isHidden, settings: given }: StoredSources,
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
  const ruled =
    happened === undefined ? [] : settingNotes({ config: happened.config, table: happened.table, stored });
  const beside =
    request === undefined || explained === undefined || explainer === undefined
      ? []
      : await compared({ request, evaluation: explained.evaluation }, { stored, others, explainer });
  const settings = [...ruled, ...beside];
  return {
    stored,
    request,
    judged,
    explained: explained && withMarks(withoutTold(explained, settings), explainer),
    isByThen: before !== undefined && explained !== undefined,
    lacksFiles: asked !== undefined && now === undefined,
    settings,
    notes: storedNotes({
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

const withMarks = (all: RequestExplanation, explainer: Explainer | undefined): RequestExplanation =>
  explainer === undefined ? all : withUnsigned(all, explainer.generation.table);

/** What is said of the stored request stands at its end, and not in its middle, too. */
function withoutTold(explained: RequestExplanation, told: readonly SettingText[]): RequestExplanation {
  const keyOf = ({ setting, at }: SettingText): string => `${setting} ${at ?? ''}`;
  const said = new Set(told.filter(({ setting }) => !TOLD_BEFORE.has(setting)).map(keyOf));
  const { settings } = explained.advice;
  if (settings === undefined) return explained;
  const advice = { ...explained.advice, settings: settings.filter((each) => !said.has(keyOf(each))) };
  return { ...explained, advice };
}

/** Kept requests that are looked through for one that should have met this one, or should not. */
const MAX_KEPT_LOOKED_AT = 20;

/** Other requests that were kept, the newest first. */
export async function findOthers(
  storage: Pick<Storage, 'listKeptRequests'>,
  stored: StoredRequest,
): Promise<readonly KeptRequest[]> {
  const { kept, decision } = stored;
  // A repeat that was recognised before it was judged is not kept, and the first one may be.
  if (kept === undefined && repeatedOf(decision?.requestId, stored) === undefined) return [];
  const all = await storage.listKeptRequests(MAX_KEPT_LOOKED_AT);
  return all.filter(({ requestId }) => requestId !== kept?.requestId);
}

/** Of a name that no mapping takes only the name is kept, and it says all. */
function nameOnly(decision: DecisionRecord | undefined): HookRequest | undefined {
  return decision?.code === 'no_mapping_matched' && isBeforeMappings(decision)
    ? createHookRequest({ path: decision.path, payload: {}, receivedAt: 0 })
    : undefined;
}

interface Beside {
  readonly stored: StoredRequest;
  readonly others: readonly KeptRequest[];
  readonly explainer: Explainer;
}

/** Requests of the same name that are judged beside it: bodies may be large. */
const MAX_JUDGED = 8;

/** Keys that are another for this request than for one before it, the nearest that tells something. */
async function compared(
  now: Judged,
  { stored, others, explainer: { generation } }: Beside,
): Promise<readonly SettingText[]> {
  if (now.evaluation.outcome.kind !== 'accepted') return [];
  let count = 0;
  for (const kept of others) {
    const { request, judged: was, unread, results } = readKeptRequest(kept);
    // Who changes a file sends the same again to see what it does.
    const isTried = was !== undefined && was.generation !== stored.decision?.generation;
    const isBefore = request.receivedAt <= now.request.receivedAt;
    if (request.path !== now.request.path || unread !== undefined || isTried || !isBefore) continue;
    if (count === MAX_JUDGED) break;
    count += 1;
    // The nearest first; most have none before them.
    // oxlint-disable-next-line no-await-in-loop
    const notes = keyNotes(now, { request, evaluation: await generation.evaluate(request, 'full', results) });
    if (notes.length > 0) return notes;
  }
  return [];
}

/** The hints of its settings, and of the request itself where it was taken; the surest first. */
export function allHints({ settings, explained }: StoredExplanation): readonly EvaluationNote[] {
  const ofSettings = [...settings, ...(explained?.advice.settings ?? [])]
    .map(settingNote)
    .filter(({ isFine }) => isFine !== true);
  if (explained?.evaluation.outcome.kind !== 'accepted') return ofSettings;
  const notes = evaluationNotes(explained.evaluation, explained.advice);
  const isWhole = !notes.some(({ code }) => code === 'rendered_empty');
  // A comparison that held for another reason is so whatever else is missing.
  const others = adviceIn(notes).others.filter(({ code }) => isWhole || code === 'held_otherwise');
  return [...ofSettings, ...others];
}
