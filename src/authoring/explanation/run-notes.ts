import { say, type Sentence, spanOf } from '../../base/finding.ts';
import type { GatewaySettings, LoadedConfig, RunnerSettings } from '../../engine/config/config.ts';
import { placeIfWritten, type Place } from '../../base/document/document.ts';
import type { CompiledMapping } from '../../engine/mapping/mapping.ts';
import type { RunRecord } from '../../engine/storage/storage.ts';
import type { StoredRequest } from '../../engine/storage/facts.ts';
import { type CommandRunnerSettings, environmentNote } from './command-failures.ts';

export interface SettingNote {
  readonly at: Place | string | undefined;
  readonly text: Sentence;
  /** The setting worked as intended, and nothing is to be done. */
  readonly isFine?: boolean;
}

interface RunFacts {
  readonly config: Pick<LoadedConfig, 'root' | 'settings' | 'file'>;
  readonly mapping: CompiledMapping | undefined;
  readonly stored?: Pick<StoredRequest, 'runs'>;
}

/** In the order of the text. At most one of them is the cause of a failure. */
export const RUN_RULES = {
  timeoutSeconds: endedByTime,
  passEnv: keptFromCommand,
} satisfies Readonly<Record<string, (facts: RunFacts) => SettingNote | undefined>>;

/** Whether a setting says how a run ended. */
export const isOfRun = (setting: string): boolean => Object.hasOwn(RUN_RULES, setting);

/** Says what to write where a run failed, or replied what was not meant; undefined where nothing is known. */
export function runAdvice(run: RunRecord, config: RunFacts['config']): Sentence | undefined {
  const facts = { config, mapping: undefined, stored: { runs: [{ run, outbox: [] }] } };
  for (const rule of Object.values(RUN_RULES)) {
    const note = rule(facts);
    if (note !== undefined) return note.text;
  }
  return undefined;
}

/** Finds a runner by name; the configuration may no longer have it. */
export function runnerNamed(
  { runners }: Pick<GatewaySettings, 'runners'>,
  name: string,
): RunnerSettings | undefined {
  return Object.hasOwn(runners, name) ? runners[name] : undefined;
}

interface CommandRun {
  readonly run: RunRecord;
  readonly runner: CommandRunnerSettings;
  readonly path: readonly string[];
}

function commandRun(
  { config, stored }: RunFacts,
  ended: (run: RunRecord) => boolean,
): CommandRun | undefined {
  const { gateway } = config.settings;
  const run = stored?.runs.find((one) => ended(one.run))?.run;
  if (run?.action.kind !== 'agent') return undefined;
  const name = run.action.runner ?? gateway.runner;
  const runner = runnerNamed(gateway, name);
  return runner?.kind === 'command' ? { run, runner, path: runnerPath(config, name) } : undefined;
}

const hasFailed = ({ lastError }: RunRecord): boolean => lastError?.code.startsWith('exit_') === true;

function runnerPath({ root }: RunFacts['config'], name: string): readonly string[] {
  const path = ['gateway', 'runners', name];
  return placeIfWritten(root, path) === undefined ? ['gateway', 'runner'] : path;
}

function placeOfKey(
  { config }: RunFacts,
  path: readonly string[],
  keys: readonly string[],
): Place | undefined {
  const places = keys.map((key) => placeIfWritten(config.root, [...path, key]));
  return places.find((place) => place !== undefined);
}

/** Applies where a command ended with an error and does not get the service's environment. */
function keptFromCommand(facts: RunFacts): SettingNote | undefined {
  const failed = commandRun(facts, hasFailed);
  if (failed === undefined) return undefined;
  const { run, runner, path } = failed;
  const text = environmentNote(runner, run.lastError?.message ?? '', path.join('.'));
  const at = placeOfKey(facts, path, ['passEnv', 'argv']) ?? placeIfWritten(facts.config.root, path);
  return text && { at, text };
}

/** Applies where a run ended because its time was over. */
function endedByTime({ config, mapping, stored }: RunFacts): SettingNote | undefined {
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
