/* What the settings of a runner had to do with how a run ended, and what to write. */
import { say, type Sentence } from '../finding.ts';
import { dirname } from 'node:path';
import { findMisplacedFile, lostFile } from '../advice/commands.ts';
import type { LoadedConfig } from '../config/config.ts';
import { placeIfWritten, type Place } from '../document/document.ts';
import { spanOf } from '../advice/requests.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';
import type { RunRecord } from '../storage/storage.ts';
import type { StoredRequest } from '../storage/facts.ts';
import { commandErrorNote } from './command-errors.ts';
import { jsonReplyNote, programNote, terminalNote } from './command-words.ts';
import {
  type CommandRunner,
  environmentNote,
  misplacedNote,
  promptNote,
  runnerNamed,
  shellNote,
} from './setting-words.ts';

/** What one setting did. */
export interface Told {
  readonly at: Place | string | undefined;
  readonly text: Sentence;
  /** Whether it says what may be so, for want of anything surer. */
  readonly isGuess?: boolean;
  /** It did what it is there for: nothing is to be done. */
  readonly isFine?: boolean;
}

interface Facts {
  readonly config: Pick<LoadedConfig, 'root' | 'settings' | 'file'>;
  readonly mapping: CompiledMapping | undefined;
  readonly stored?: Pick<StoredRequest, 'runs'>;
}

/** In the order of the text; at most one of them is the cause of a failure. */
export const RUN_RULES = {
  argv: withoutShell,
  cwd: withoutFile,
  timeoutSeconds: endedByTime,
  prompt: repliedNothing,
  replyPath: repliedJson,
  passEnv: keptFromCommand,
} satisfies Readonly<Record<string, (facts: Facts) => Told | undefined>>;

/** Whether a setting says how a run ended. */
export const isOfRun = (setting: string): boolean => Object.hasOwn(RUN_RULES, setting);

/** What to write where a run failed, or replied what was not meant; undefined where nothing is known. */
export function runAdvice(run: RunRecord, config: Facts['config']): Sentence | undefined {
  const facts = { config, mapping: undefined, stored: { runs: [{ run, outbox: [] }] } };
  for (const rule of Object.values(RUN_RULES)) {
    const told = rule(facts);
    // What may be the cause of anything is for who asks.
    if (told !== undefined) return told.isGuess === true ? undefined : told.text;
  }
  return undefined;
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
export function runnerPath({ root }: Facts['config'], name: string): readonly string[] {
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
  const told = environmentNote(runner, run.lastError?.message ?? '', path.join('.'));
  const at = placeOfKey(facts, path, ['passEnv', 'argv']) ?? placeIfWritten(facts.config.root, path);
  return told && { at, ...told };
}

/** Of a command that ended with an error: words of a shell, a program that is not there, a terminal that it wants. */
function withoutShell(facts: Facts): Told | undefined {
  const failed = commandRun(facts, hasFailed);
  const error = failed?.run.lastError;
  if (failed === undefined || error === undefined) return undefined;
  const text =
    shellNote(failed.runner) ??
    programNote(error) ??
    terminalNote(failed.runner, error.message) ??
    commandErrorNote({
      runner: failed.runner,
      configDir: dirname(facts.config.file),
      message: error.message,
    });
  return text === undefined ? undefined : { at: placeOfKey(facts, failed.path, ['argv']), text };
}

/** Of a command that ended with an error about a file that is not in its folder, maybe beside the configuration. */
function withoutFile(facts: Facts): Told | undefined {
  const failed = commandRun(facts, hasFailed);
  if (failed === undefined) return undefined;
  const { config } = facts;
  const { run, runner, path } = failed;
  const folders = Object.values(config.settings.gateway.workFolders);
  const works = [...(runner.cwd === undefined ? [] : [runner.cwd]), ...folders];
  const said = run.lastError?.message ?? '';
  const found = findMisplacedFile(runner.argv, { configDir: dirname(config.file), works });
  const at = placeOfKey(facts, path, ['cwd', 'argv']);
  if (found !== undefined && said.includes(found.word)) return { at, text: misplacedNote(runner, found) };
  const chosen = run.action.kind === 'agent' ? run.action.cwd : undefined;
  const cwd = chosen === undefined ? runner.cwd : config.settings.gateway.workFolders[chosen];
  const lost = cwd === undefined ? undefined : lostFile(runner.argv, cwd, said);
  return lost === undefined
    ? undefined
    : { at, text: say`there is no ${lost} in ${cwd ?? ''}, where the command worked (cwd)` };
}

/** Of a command that ended well without a word: it may have read no prompt. */
function repliedNothing(facts: Facts): Told | undefined {
  const silent = commandRun(facts, saidNothing);
  if (silent === undefined) return undefined;
  return { at: placeOfKey(facts, silent.path, ['prompt', 'argv']), text: promptNote(silent.runner) };
}

/** Of a run that was ended when its time was over. */
function endedByTime({ config, mapping, stored }: Facts): Told | undefined {
  const ended = stored?.runs.find(({ run: { outcome } }) => outcome === 'timeout')?.run.action;
  if (ended?.kind !== 'agent') return undefined;
  const own = mapping?.timeoutSeconds ?? ended.timeoutSeconds;
  const { timeoutSeconds, maxTimeoutSeconds } = config.settings.agents.defaults;
  if ((own ?? timeoutSeconds) > maxTimeoutSeconds) {
    return {
      at: placeIfWritten(config.root, ['agents', 'defaults', 'maxTimeoutSeconds']),
      text: say`no run may take more than ${spanOf(maxTimeoutSeconds)}, and this one asked for more: if it needs it, write a larger maxTimeoutSeconds below agents.defaults`,
    };
  }
  const limit = own ?? timeoutSeconds;
  return {
    at:
      own === undefined ? placeIfWritten(config.root, ['agents', 'defaults', 'timeoutSeconds']) : mapping?.at,
    text: say`a run may take ${spanOf(limit)}${own === undefined ? ' (agents.defaults.timeoutSeconds)' : ` in this mapping`}: if it needs longer, write a larger timeoutSeconds ${own === undefined ? 'there or in the mapping' : 'there'}, such as timeoutSeconds: ${Math.max(300, limit * 4)}`,
  };
}

/** Of a command whose reply is JSON with the answer in it. */
function repliedJson(facts: Facts): Told | undefined {
  const done = commandRun(facts, ({ outcome, reply }) => outcome === 'ok' && reply !== undefined);
  const text = done && jsonReplyNote(done.runner, done.run.reply ?? '', done.path.join('.'));
  return text === undefined ? undefined : { at: placeOfKey(facts, done?.path ?? [], ['argv']), text };
}
