/*
 * The settings that had a hand in what became of a request: each with its place, what it did here, and what to write
 * where another thing was meant. One table, for a file and for what the store knows; a setting that did nothing worth
 * a word is silent.
 */
import { dirname } from 'node:path';
import { senderNote } from '../analysis/analysis.ts';
import type { LoadedConfig } from '../config/config.ts';
import { formatPlace, placeIfWritten, type Place } from '../document/document.ts';
import { spanOf, type Evaluation } from '../hook/hook.ts';
import type { CompiledMapping, PathSettings, RoutingTable } from '../mapping/mapping.ts';
import type { HookRequest } from '../request.ts';
import { findMisplacedFile, scriptVariables } from '../runners/runners.ts';
import type { RunRecord, StoredRequest } from '../storage/storage.ts';
import { noListText } from './list-note.ts';
import { debounceNote } from './debounce-note.ts';
import { withFixedKeys } from './fixed-keys.ts';
import { jsonReplyNote, programNote, terminalNote } from './command-words.ts';
import {
  challengeNote,
  type CommandRunner,
  environmentNote,
  misplacedNote,
  promptNote,
  runnerNamed,
  shellNote,
} from './setting-words.ts';

/** One setting, and what it did. */
export interface SettingNote {
  /** As it is written, e.g. `hooks.defaults.deliver`. */
  readonly setting: string;
  /** `file:line:column`; absent where it stands nowhere. */
  readonly at?: string;
  readonly text: string;
}

/** A request with all that is known of it. */
export interface Happened {
  readonly config: Pick<LoadedConfig, 'root' | 'settings' | 'file'>;
  readonly table: RoutingTable;
  /** Where it is there to look at. */
  readonly evaluated?: { readonly request: HookRequest; readonly evaluation: Evaluation };
  readonly stored?: StoredRequest;
  /** As it was kept; where it was evaluated it is there already. */
  readonly kept?: HookRequest | undefined;
}

interface Facts extends Happened {
  readonly mapping: CompiledMapping | undefined;
  readonly code: string | undefined;
  readonly detail: string;
}

interface Told {
  readonly at: Place | string | undefined;
  readonly text: string;
}

/** Says which settings took part, in the order of the table. */
export function settingNotes(happened: Happened): readonly SettingNote[] {
  const facts = factsOf(happened);
  const payload = facts.evaluated?.request.payload ?? facts.kept?.payload;
  const ruled = Object.entries(RULES).flatMap(([setting, rule]) => {
    const told = rule(facts);
    if (told === undefined) return [];
    const { at, text } = told;
    const place = at === undefined || typeof at === 'string' ? at : formatPlace(at);
    return [{ setting, ...(place === undefined ? {} : { at: place }), text }];
  });
  return withFixedKeys(facts.mapping, payload, ruled);
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
    detail: error?.detail ?? stored?.decision?.detail ?? '',
  };
}

const RULES: Readonly<Record<string, (facts: Facts) => Told | undefined>> = {
  'match.source': comparedSource,
  challenge: askedChallenge,
  rate: refusedByRate,
  ignoreSenders: comparedSenders,
  forEach: noList,
  debounce: gathered,
  'gateway.heartbeat.everySeconds': noTurn,
  wakeMode: waitsForTurn,
  'hooks.defaults.deliver': notDelivered,
  argv: withoutShell,
  cwd: withoutFile,
  timeoutSeconds: endedByTime,
  prompt: repliedNothing,
  replyPath: repliedJson,
  passEnv: keptFromCommand,
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
    text: `it is no name for the sender: it is compared with the field "source" of the body. Remove it (match.path says already who sends), or let the sender send "source": ${JSON.stringify(wanted)}`,
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

const MINUTES = 60;

function refusedByRate(facts: Facts): Told | undefined {
  if (facts.code !== 'rate_limited') return undefined;
  const owner = ownerOf(facts, 'rate');
  const rate = owner?.mapping.settings.rate;
  if (owner === undefined || rate === undefined) return undefined;
  return {
    at: owner.at,
    text: `it refuses what is over ${rate.perMinute} requests in a minute (429), and nothing of that waits. To take every request and let the agent begin at most so many runs, write limits: {runsPerHour: ${rate.perMinute * MINUTES}} in its place: further runs wait in the queue`,
  };
}

function comparedSenders({ mapping, evaluated }: Facts): Told | undefined {
  if (evaluated === undefined) return undefined;
  const { outcome } = evaluated.evaluation;
  const at = mapping?.ignoreSenders?.at;
  if (outcome.kind === 'skipped' && outcome.by === 'ignoreSenders')
    return {
      at,
      text: `it names ${outcome.sender}, who sent this: take that name out if such requests are wanted`,
    };
  const note = senderNote(evaluated.evaluation, evaluated.request);
  return note === undefined ? undefined : { at, text: note.text };
}

function noList({ mapping, code, detail, evaluated }: Facts): Told | undefined {
  const forEach = mapping?.forEach;
  if (forEach === undefined || code !== 'invalid_body' || !detail.startsWith('forEach reads'))
    return undefined;
  const known = { payload: evaluated?.request.payload, isObject: detail.endsWith('an object') };
  return { at: forEach.at, text: `it takes a list only; ${noListText(forEach, known)}` };
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
    text: `0 turns the regular turn of the main agent off, and wakeMode: next-heartbeat of ${who} waits for it: the event waits until something else wakes the agent. There are two ways: for a turn every half hour that reads all events write everySeconds: 1800; to have each event read at once ${now}`,
  };
}

/** What has an event read at once. */
function readAtOnce({ mapping, evaluated, stored }: Facts): string {
  const path = stored?.decision?.path ?? evaluated?.request.path;
  return mapping === undefined
    ? `let the request say ${path === 'wake' ? 'mode' : 'wakeMode'}: now`
    : `write wakeMode: now in the mapping (${formatPlace(mapping.at)})`;
}

/** Of an event that waits for the next regular turn: how far apart these are. */
function waitsForTurn(facts: Facts): Told | undefined {
  const { everySeconds, activeHours } = facts.config.settings.gateway.heartbeat;
  const waits = facts.stored?.events.some(
    ({ state, mode }) => state === 'pending' && mode === 'next-heartbeat',
  );
  if (everySeconds === 0 || waits !== true) return undefined;
  const hours =
    activeHours === undefined
      ? ''
      : `, only from ${activeHours.from} to ${activeHours.to} (${activeHours.timeZone})`;
  return {
    at: facts.mapping?.at,
    text: `next-heartbeat waits for the regular turn of the main agent, which comes every ${spanOf(everySeconds)} and at no fixed time of the day${hours} (gateway.heartbeat): the event waits until then. To have it read at once ${readAtOnce(facts)}; for a turn every half hour write everySeconds: 1800`,
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
    text: `false holds for mapping ${mapping.id}, too, which does not set deliver: ${named.join(' and ')} alone ${named.length === 1 ? 'sends' : 'send'} nothing. Write deliver: true at ${formatPlace(mapping.at)}`,
  };
}

/** A command whose run ended in a certain way, with the steps to its settings. */
interface CommandRun {
  readonly run: RunRecord;
  readonly runner: CommandRunner;
  readonly path: readonly string[];
}

/** The first run that `ended` as asked, where a command made it. */
function commandRun({ config, stored }: Facts, ended: (run: RunRecord) => boolean): CommandRun | undefined {
  const { gateway } = config.settings;
  const run = stored?.runs.find((one) => ended(one.run))?.run;
  if (run?.action.kind !== 'agent') return undefined;
  const name = run.action.runner ?? gateway.runner;
  const runner = runnerNamed(gateway, name);
  return runner?.kind === 'command' ? { run, runner, path: runnerPath(config, name) } : undefined;
}

const hasFailed = ({ lastError }: RunRecord): boolean => lastError?.code.startsWith('exit_') === true;
const saidNothing = ({ outcome, reply = '' }: RunRecord): boolean => outcome === 'ok' && reply.trim() === '';

/** The steps to the settings of a runner; the only one has no name of its own. */
function runnerPath({ root }: Facts['config'], name: string): readonly string[] {
  const path = ['gateway', 'runners', name];
  return placeIfWritten(root, path) === undefined ? ['gateway', 'runner'] : path;
}

/** The place of the first of the keys that the settings of a runner have. */
function placeOfKey({ config }: Facts, path: readonly string[], keys: readonly string[]): Place | undefined {
  const places = keys.map((key) => placeIfWritten(config.root, [...path, key]));
  return places.find((place) => place !== undefined);
}

/** Of a command that ended with an error, and gets little of the service's environment. */
function keptFromCommand(facts: Facts): Told | undefined {
  const failed = commandRun(facts, hasFailed);
  if (failed === undefined || withoutShell(facts) !== undefined) return undefined;
  const { run, runner, path } = failed;
  const script = scriptVariables(runner.argv, dirname(facts.config.file))?.names ?? [];
  const text = environmentNote(runner, run.lastError?.message ?? '', { key: path.join('.'), script });
  const at = placeOfKey(facts, path, ['passEnv']) ?? placeIfWritten(facts.config.root, path);
  return text === undefined ? undefined : { at, text };
}

/** Of a command that ended with an error: words of a shell, a program that is not there, a terminal that it wants. */
function withoutShell(facts: Facts): Told | undefined {
  const failed = commandRun(facts, hasFailed);
  const error = failed?.run.lastError;
  if (failed === undefined || error === undefined) return undefined;
  const text = shellNote(failed.runner) ?? programNote(error) ?? terminalNote(failed.runner, error.message);
  return text === undefined ? undefined : { at: placeOfKey(facts, failed.path, ['argv']), text };
}

/** Of a command that ended with an error about a file that is only beside the configuration. */
function withoutFile(facts: Facts): Told | undefined {
  const failed = commandRun(facts, hasFailed);
  if (failed === undefined) return undefined;
  const { config } = facts;
  const { run, runner, path } = failed;
  const folders = Object.values(config.settings.gateway.workFolders);
  const works = [...(runner.cwd === undefined ? [] : [runner.cwd]), ...folders];
  const found = findMisplacedFile(runner.argv, { configDir: dirname(config.file), works });
  if (found === undefined || run.lastError?.message.includes(found.word) !== true) return undefined;
  return { at: placeOfKey(facts, path, ['cwd', 'argv']), text: misplacedNote(runner, found) };
}

/** Of a command that ended well without a word: it may have read no prompt. */
function repliedNothing(facts: Facts): Told | undefined {
  const silent = commandRun(facts, saidNothing);
  if (silent === undefined) return undefined;
  return { at: placeOfKey(facts, silent.path, ['prompt', 'argv']), text: promptNote(silent.runner) };
}

/** Of a run that was ended when its time was over. */
function endedByTime({ config, mapping, stored }: Facts): Told | undefined {
  const ended = stored?.runs.some(({ run: { outcome } }) => outcome === 'timeout');
  if (ended !== true) return undefined;
  const own = mapping?.timeoutSeconds;
  const limit = own ?? config.settings.agents.defaults.timeoutSeconds;
  return {
    at:
      own === undefined ? placeIfWritten(config.root, ['agents', 'defaults', 'timeoutSeconds']) : mapping?.at,
    text: `a run may take ${spanOf(limit)}${own === undefined ? ' (agents.defaults.timeoutSeconds)' : ` in this mapping`}: if it needs longer, write a larger timeoutSeconds ${own === undefined ? 'there or in the mapping' : 'there'}, such as timeoutSeconds: ${Math.max(300, limit * 4)}`,
  };
}

/** Of a command whose reply is JSON with the answer in it. */
function repliedJson(facts: Facts): Told | undefined {
  const done = commandRun(facts, ({ outcome, reply }) => outcome === 'ok' && reply !== undefined);
  const text = done && jsonReplyNote(done.runner, done.run.reply ?? '', done.path.join('.'));
  return text === undefined ? undefined : { at: placeOfKey(facts, done?.path ?? [], ['argv']), text };
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
    text: `${model} does not reach the coding agent ${runner.agent}, which uses the model of its own settings: write model: ${model} at ${key}, or in the mapping`,
  };
}
