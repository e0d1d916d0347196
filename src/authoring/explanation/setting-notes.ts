/**
 * Names the settings that had a part in what became of a request, each with its place, what it did, and
 * what to write where another thing was meant. The same table serves a request file and the store. A
 * setting that did nothing is not named.
 */
import type { JsonValue } from '../../base/json.ts';
import { say, spanOf, todo, write, type Finding, type Sentence } from '../../base/finding.ts';
import { sayAccounts, requestFinding, bodyPath, createBodyIndex } from '../advice/requests.ts';
import type { LoadedConfig } from '../../engine/config/config.ts';
import { formatPlace } from '../../base/document/document.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';
import type { CompiledMapping, RoutingTable } from '../../engine/mapping/mapping.ts';
import type { HookRequest } from '../../base/request.ts';
import type { StoredRequest } from '../../engine/storage/facts.ts';
import { runFindings } from './run-notes.ts';

export interface RequestHistory {
  readonly config: Pick<LoadedConfig, 'root' | 'settings' | 'file'>;
  readonly table: RoutingTable;
  /** Set where the evaluation can be read. */
  readonly evaluated?: { readonly request: HookRequest; readonly evaluation: Evaluation };
  readonly stored?: StoredRequest;
}

interface SettingFacts extends RequestHistory {
  readonly mapping: CompiledMapping | undefined;
  readonly code: string | undefined;
}

/** Says which settings took part, in the order of the text. */
export function settingNotes(happened: RequestHistory): readonly Finding[] {
  const facts = factsOf(happened);
  return [comparedSenders, listRead, waitsForTurn, runFindings].flatMap((rule) => rule(facts));
}

function factsOf(happened: RequestHistory): SettingFacts {
  const { table, evaluated } = happened;
  const stored = happened.stored && ofFirst(happened.stored, evaluated?.evaluation);
  const outcome = evaluated?.evaluation.outcome;
  const error = outcome?.kind === 'rejected' ? outcome.error : undefined;
  const [run] = stored?.runs ?? [];
  const [event] = stored?.events ?? [];
  const id = stored?.decision?.mappingId ?? (run?.run.action ?? event)?.origin.mappingId;
  return {
    ...happened,
    ...(stored && { stored }),
    mapping:
      evaluated?.evaluation.mapping ??
      (id === undefined ? undefined : table.mappings.find((one) => one.id === id)),
    code: error?.code ?? stored?.decision?.code,
  };
}

/** Where several mappings matched the request, the settings are those of the first. */
function ofFirst(stored: StoredRequest, evaluation: Evaluation | undefined): StoredRequest {
  if (evaluation?.further === undefined) return stored;
  const { mapping } = evaluation;
  return { ...stored, runs: stored.runs.filter(({ run }) => run.action.origin.mappingId === mapping?.id) };
}

function comparedSenders({ mapping, evaluated }: SettingFacts): readonly Finding[] {
  if (evaluated === undefined) return [];
  const { outcome } = evaluated.evaluation;
  const text =
    outcome.kind === 'skipped' && outcome.by === 'ignoreSenders'
      ? say`it names ${outcome.sender}, who sent this: ${todo}take that name out if such requests are wanted`
      : sayAccounts(evaluated.evaluation, evaluated.request);
  if (text === undefined) return [];
  return [requestFinding('setting', text, { at: mapping?.ignoreSenders?.at, setting: 'ignoreSenders' })];
}

function listRead({ mapping, code, evaluated }: SettingFacts): readonly Finding[] {
  // A body of another format was refused before a mapping was chosen.
  if (mapping?.forEach === undefined || code !== 'invalid_body') return [];
  const text = noListText(mapping.forEach, evaluated?.request.payload);
  return [requestFinding('setting', text, { at: mapping.forEach.at, setting: 'forEach' })];
}

function readAtOnce({ mapping, evaluated, stored }: SettingFacts): Sentence {
  const path = stored?.decision?.path ?? evaluated?.request.path;
  return mapping === undefined
    ? say`let the request say ${path === 'wake' ? 'mode' : 'wakeMode'}: now`
    : say`${write('wakeMode: now')} in the mapping (${formatPlace(mapping.at)})`;
}

/** People may not know of a wait that is longer than this. */
const MANY_SECONDS = 3_600;

function waitsForTurn(facts: SettingFacts): readonly Finding[] {
  const { everySeconds, activeHours } = facts.config.settings.gateway.heartbeat;
  const waits = facts.stored?.events.some(
    ({ state, mode }) => state === 'pending' && mode === 'next-heartbeat',
  );
  if (everySeconds === 0 || waits !== true) return [];
  const hours =
    activeHours === undefined
      ? ''
      : say`, only from ${activeHours.from} to ${activeHours.to} (${activeHours.timeZone})`;
  const text = say`next-heartbeat waits for the regular turn of the main agent, which comes every ${spanOf(everySeconds)} and at no fixed time of the day${hours} (gateway.heartbeat): the event waits until then. To have it read at once ${readAtOnce(facts)}${everySeconds > MANY_SECONDS ? '; for a turn every half hour write everySeconds: 1800' : ''}`;
  const isFine = everySeconds <= MANY_SECONDS;
  return [requestFinding('setting', text, { at: facts.mapping?.at, setting: 'wakeMode', isFine })];
}

type Reads = Pick<NonNullable<CompiledMapping['forEach']>, 'text' | 'keys'>;

/**
 * Says that `forEach` needs a list, and which list of nearly that path the body has. The payload is
 * undefined where it was not stored.
 */
export function noListText({ text, keys }: Reads, payload: JsonValue | undefined): Sentence {
  if (Array.isArray(payload))
    return say`it takes a list only, and the whole body is the list: ${write('forEach: payload')}`;
  const near = payload === undefined ? [] : createBodyIndex(payload).find(keys);
  const [list, ...others] = near
    .filter(({ value }) => Array.isArray(value))
    .map((each) => bodyPath(each.keys));
  return list === undefined || others.length > 0
    ? say`it takes a list only: ${todo}name a path that is a list, or take requests without ${text} by a mapping of their own, without forEach`
    : say`it takes a list only; this body has one at ${list}: ${write(`forEach: ${list}`)}`;
}
