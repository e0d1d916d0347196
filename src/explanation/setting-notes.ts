/*
 * The settings that had a hand in what became of a request: each with its place, what it did here, and what to write
 * where another thing was meant. One table, for a file and for what the store knows; a setting that did nothing worth
 * a word is silent.
 */
import { defined } from '../json.ts';
import { say, todo, write, type Sentence } from '../finding.ts';
import { basename } from 'node:path';
import { laterMappings, senderNote, spanOf, type SettingText } from '../advice/requests.ts';
import type { LoadedConfig } from '../config/config.ts';
import { formatPlace, placeIfWritten, type Place } from '../document/document.ts';
import { type Evaluation } from '../hook/hook.ts';
import type { CompiledMapping, PathSettings, RoutingTable } from '../mapping/mapping.ts';
import type { HookRequest } from '../request.ts';
import type { StoredRequest } from '../storage/facts.ts';
import { noListText } from './list-note.ts';
import { debounceNote } from './debounce-note.ts';
import { OUTBOX_RULES } from './outbox-notes.ts';
import { isOfRun, RUN_RULES, runnerPath, type Told } from './run-notes.ts';
import { prefixNote } from './prefix-note.ts';
import { challengeNote, runnerNamed } from './setting-words.ts';

/** A request with all that is known of it. */
export interface Happened {
  readonly config: Pick<LoadedConfig, 'root' | 'settings' | 'file'>;
  readonly table: RoutingTable;
  /** Where it is there to look at. */
  readonly evaluated?: { readonly request: HookRequest; readonly evaluation: Evaluation };
  readonly stored?: StoredRequest;
}

interface Facts extends Happened {
  readonly mapping: CompiledMapping | undefined;
  readonly code: string | undefined;
  /** The field that the error is about. */
  readonly field: string | undefined;
}

/** Says which settings took part, in the order of the table. */
export function settingNotes(happened: Happened): readonly SettingText[] {
  const facts = factsOf(happened);
  return Object.entries(RULES).flatMap(([setting, rule]) => {
    const told = rule(facts);
    if (told === undefined) return [];
    const { at, text, isFine } = told;
    const place = at === undefined || typeof at === 'string' ? at : formatPlace(at);
    const about = isOfRun(setting) ? ({ isOfRun: true } as const) : {};
    return [
      { setting, ...(place === undefined ? {} : { at: place }), text, ...defined({ isFine }), ...about },
    ];
  });
}

function factsOf(happened: Happened): Facts {
  const { table, evaluated, stored } = happened;
  const outcome = evaluated?.evaluation.outcome;
  const error = outcome?.kind === 'rejected' ? outcome.error : undefined;
  const [run] = stored?.runs ?? [];
  const [event] = stored?.events ?? [];
  const id = stored?.decision?.mappingId ?? (run?.run.action ?? event)?.origin.mappingId;
  return {
    ...happened,
    mapping:
      evaluated?.evaluation.mapping ??
      (id === undefined ? undefined : table.mappings.find((one) => one.id === id)),
    code: error?.code ?? stored?.decision?.code,
    field: error?.errors[0]?.field ?? fieldOf(stored?.decision),
  };
}

function fieldOf(decision: StoredRequest['decision']): string | undefined {
  const field = decision?.findings?.find(({ code }) => code === 'field')?.facts?.['field'];
  return typeof field === 'string' ? field : undefined;
}

const RULES: Readonly<Record<string, (facts: Facts) => Told | undefined>> = {
  'match.source': comparedSource,
  challenge: askedChallenge,
  ignoreSenders: comparedSenders,
  forEach: listRead,
  debounce: gathered,
  'hooks.sessionKeys.allowedPrefixes': ({ config, mapping, ...error }) => prefixNote(config, mapping, error),
  'gateway.heartbeat.everySeconds': noTurn,
  wakeMode: waitsForTurn,
  'hooks.defaults.deliver': notDelivered,
  deliver: deliveredNowhere,
  ...RUN_RULES,
  ...OUTBOX_RULES,
  'agents.defaults.model': keptFromAgent,
};

/** `source` of the body decides, and the body has none: another value may well be meant for another mapping. */
function comparedSource({ evaluated, stored, mapping }: Facts): Told | undefined {
  if (mapping !== undefined) return undefined;
  const failed = evaluated?.evaluation.trace.considered.find(
    ({ mapping: { match }, failed: part }) =>
      match.path !== undefined && part?.part === 'source' && part.found === undefined,
  )?.failed;
  const missed = stored?.decision?.missed?.find(({ part, why }) => part === 'source' && why === 'missing');
  const wanted = failed?.part === 'source' ? failed.expected : missed?.leaf;
  if (wanted === undefined) return undefined;
  const at = failed?.part === 'source' ? failed.at : missed?.place;
  return {
    at,
    text: say`it is no name for the sender: it is compared with the field "source" of the body. Remove it (match.path says already who sends), or let the sender send "source": ${JSON.stringify(wanted)}`,
  };
}

/** The mapping of the path that has a setting of the path. */
function ownerOf(
  { table, stored }: Facts,
  key: keyof PathSettings,
): { readonly mapping: CompiledMapping; readonly at: Place } | undefined {
  const path = stored?.decision?.path;
  const mapping = table.mappings.find(
    (one) => path !== undefined && one.match.path === path && one.settingsAt?.[key] !== undefined,
  );
  const at = mapping?.settingsAt?.[key];
  return mapping === undefined || at === undefined ? undefined : { mapping, at };
}

function askedChallenge(facts: Facts): Told | undefined {
  if (facts.stored?.decision?.refusal?.code !== 'challenge') return undefined;
  const owner = ownerOf(facts, 'challenge');
  const text = owner && challengeNote(owner.at, owner.mapping.settingsAt?.verify);
  return text === undefined ? undefined : { at: owner?.at, text };
}

function comparedSenders({ mapping, evaluated }: Facts): Told | undefined {
  if (evaluated === undefined) return undefined;
  const { outcome } = evaluated.evaluation;
  const at = mapping?.ignoreSenders?.at;
  if (outcome.kind === 'skipped' && outcome.by === 'ignoreSenders')
    return {
      at,
      text: say`it names ${outcome.sender}, who sent this: ${todo}take that name out if such requests are wanted`,
    };
  const note = senderNote(evaluated.evaluation, evaluated.request);
  return note === undefined ? undefined : { at, text: note.text };
}

function listRead({ mapping, code, evaluated }: Facts): Told | undefined {
  if (mapping?.forEach === undefined) return undefined;
  // A body of another format was refused before a mapping was chosen.
  if (code !== 'invalid_body') return undefined;
  return { at: mapping.forEach.at, text: noListText(mapping.forEach, evaluated?.request.payload) };
}

function gathered({ mapping, stored }: Facts): Told | undefined {
  return mapping === undefined || stored === undefined ? undefined : debounceNote({ mapping, stored });
}

function noTurn(facts: Facts): Told | undefined {
  const { config, mapping, evaluated, stored } = facts;
  if (config.settings.gateway.heartbeat.everySeconds > 0) return undefined;
  const outcome = evaluated?.evaluation.outcome;
  const planned =
    outcome?.kind === 'accepted'
      ? outcome.actions.filter((action) => action.kind === 'wake').map(({ mode }) => mode)
      : [];
  const waiting = (stored?.events ?? []).filter(({ state }) => state === 'pending').map(({ mode }) => mode);
  if (!(stored === undefined ? planned : waiting).includes('next-heartbeat')) return undefined;
  const who = mapping === undefined ? 'the request' : `mapping ${mapping.id}`;
  const now = readAtOnce(facts);
  return {
    at: placeIfWritten(config.root, ['gateway', 'heartbeat', 'everySeconds']),
    text: say`0 turns the regular turn of the main agent off, and wakeMode: next-heartbeat of ${who} waits for it: the event waits until something else wakes the agent. There are two ways: ${write('everySeconds: 1800', undefined, 'for a turn every half hour that reads all events')}; to have each event read at once ${now}`,
  };
}

/** What has an event read at once. */
function readAtOnce({ mapping, evaluated, stored }: Facts): Sentence {
  const path = stored?.decision?.path ?? evaluated?.request.path;
  return mapping === undefined
    ? say`let the request say ${path === 'wake' ? 'mode' : 'wakeMode'}: now`
    : say`${write('wakeMode: now')} in the mapping (${formatPlace(mapping.at)})`;
}

/** Of an event that waits for the next regular turn: how far apart these are. */
/** Between two turns: who waits longer may not know it. */
const MANY_SECONDS = 3_600;

/** Another mapping would have taken it: when this one is read is then not what was amiss. */
function isForLater({ evaluated, table }: Facts): boolean {
  if (evaluated === undefined) return false;
  return laterMappings(evaluated.evaluation, evaluated.request, table).some(({ takesAny }) => !takesAny);
}

function waitsForTurn(facts: Facts): Told | undefined {
  const { everySeconds, activeHours } = facts.config.settings.gateway.heartbeat;
  const waits = facts.stored?.events.some(
    ({ state, mode }) => state === 'pending' && mode === 'next-heartbeat',
  );
  if (everySeconds === 0 || waits !== true || isForLater(facts)) return undefined;
  const hours =
    activeHours === undefined
      ? ''
      : say`, only from ${activeHours.from} to ${activeHours.to} (${activeHours.timeZone})`;
  return {
    at: facts.mapping?.at,
    isFine: everySeconds <= MANY_SECONDS,
    text: say`next-heartbeat waits for the regular turn of the main agent, which comes every ${spanOf(everySeconds)} and at no fixed time of the day${hours} (gateway.heartbeat): the event waits until then. To have it read at once ${readAtOnce(facts)}${everySeconds > MANY_SECONDS ? '; for a turn every half hour write everySeconds: 1800' : ''}`,
  };
}

function notDelivered({ config, mapping, evaluated, stored }: Facts): Told | undefined {
  if (mapping?.action !== 'agent' || mapping.deliver !== undefined) return undefined;
  if (config.settings.hooks.defaults.deliver) return undefined;
  const named = (['channel', 'to'] as const).filter((key) => mapping[key] !== undefined);
  const outcome = evaluated?.evaluation.outcome;
  const actions = outcome?.kind === 'accepted' ? outcome.actions : [];
  const all = stored === undefined ? actions : stored.runs.map(({ run }) => run.action);
  const isSilent = all.some((action) => action.kind === 'agent' && !action.deliver);
  if (named.length === 0 || !isSilent) return undefined;
  return {
    at: placeIfWritten(config.root, ['hooks', 'defaults', 'deliver']),
    text: say`false holds for mapping ${mapping.id}, too, which does not set deliver: ${named.join(' and ')} alone ${named.length === 1 ? 'sends' : 'send'} nothing. ${write('deliver: true', `at ${formatPlace(mapping.at)}`)}`,
  };
}

/** `deliver: true` of a mapping, where no channel is there to send anything to. */
function deliveredNowhere({ config, mapping, evaluated, stored }: Facts): Told | undefined {
  if (mapping?.action !== 'agent' || mapping.deliver !== true || mapping.channel !== undefined)
    return undefined;
  if (Object.keys(config.settings.channels).length > 0) return undefined;
  const outcome = evaluated?.evaluation.outcome;
  if (stored === undefined ? outcome?.kind !== 'accepted' : stored.runs.length === 0) return undefined;
  return {
    at: mapping.at,
    text: say`no channel is configured, so the reply is only stored. To send it, ${write(`channels: {slack: {botToken: '\${SLACK_BOT_TOKEN}', to: '#channel'}}`, undefined, 'for one to Slack')} in ${basename(config.file)}, and channel: slack in the mapping`,
  };
}

/** The default model of all, which a coding agent does not get. */
function keptFromAgent({ config, mapping, evaluated, stored }: Facts): Told | undefined {
  const { agents, gateway } = config.settings;
  const model = agents.defaults.model;
  if (mapping?.action !== 'agent' || mapping.model !== undefined || model === undefined) return undefined;
  const outcome = evaluated?.evaluation.outcome;
  if (stored === undefined ? outcome?.kind !== 'accepted' : stored.runs.length === 0) return undefined;
  const name = mapping.runner ?? gateway.runner;
  const runner = runnerNamed(gateway, name);
  if (runner?.kind !== 'agent' || runner.model !== undefined) return undefined;
  const key = runnerPath(config, name).join('.');
  return {
    at: placeIfWritten(config.root, ['agents', 'defaults', 'model']),
    text: say`${model} does not reach the coding agent ${runner.agent}, which uses the model of its own settings: ${write(`model: ${model}`, `at ${key}`)}, or in the mapping`,
  };
}
