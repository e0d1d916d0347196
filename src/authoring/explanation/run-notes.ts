import { type Finding, say, type Sentence, spanOf, write } from '../../base/finding.ts';
import type { GatewaySettings, LoadedConfig, RunnerSettings } from '../../engine/config/config.ts';
import { placeIfWritten, type Place } from '../../base/document/document.ts';
import type { CompiledMapping } from '../../engine/mapping/mapping.ts';
import type { RunRecord } from '../../engine/storage/storage.ts';
import type { StoredRequest } from '../../engine/storage/facts.ts';
import { requestFinding } from '../advice/requests.ts';

interface RunFacts {
  readonly config: Pick<LoadedConfig, 'root' | 'settings' | 'file'>;
  readonly mapping: CompiledMapping | undefined;
  readonly stored?: Pick<StoredRequest, 'runs'>;
}

/** Names the settings by which runs ended, in the order of the text; at most one for each run. */
export const runFindings = (facts: RunFacts): readonly Finding[] => [
  ...endedByTime(facts),
  ...keptFromCommand(facts),
];

const ofRun = (setting: string, text: Sentence, at: Place | undefined): readonly Finding[] => [
  requestFinding('setting', text, { at, setting, isOfRun: true }),
];

/** Says what to write where a run failed, or replied what was not meant; undefined where nothing is known. */
export const runAdvice = (run: RunRecord, config: RunFacts['config']): Sentence | undefined =>
  runFindings({ config, mapping: undefined, stored: { runs: [{ run, outbox: [] }] } })[0]?.message;

/** Finds a runner by name; the configuration may no longer have it. */
export function runnerNamed(
  { runners }: Pick<GatewaySettings, 'runners'>,
  name: string,
): RunnerSettings | undefined {
  return Object.hasOwn(runners, name) ? runners[name] : undefined;
}

/** Applies where a command ended with an error and does not get the service's environment. */
function keptFromCommand({ config, stored }: RunFacts): readonly Finding[] {
  const { root, settings } = config;
  const run = stored?.runs.find((one) => one.run.lastError?.code.startsWith('exit_') === true)?.run;
  if (run?.action.kind !== 'agent') return [];
  const name = run.action.runner ?? settings.gateway.runner;
  const runner = runnerNamed(settings.gateway, name);
  if (runner?.kind !== 'command') return [];
  const own = ['gateway', 'runners', name];
  const path = placeIfWritten(root, own) === undefined ? ['gateway', 'runner'] : own;
  const text = environmentNote(runner, run.lastError?.message ?? '', path.join('.'));
  const at = placeIfWritten(root, [...path, 'argv']) ?? placeIfWritten(root, path);
  return text === undefined ? [] : ofRun('passEnv', text, at);
}

type CommandSettings = Pick<
  Extract<RunnerSettings, { readonly kind: 'command' }>,
  'argv' | 'env' | 'passEnv'
>;

/** How shells and programs say that a variable is not there. Without such words only names with an underscore count. */
const ABSENT = [
  /\b([A-Z][A-Z0-9_]{1,60}): (?:parameter (?:null or )?not set|unbound variable)\b/g,
  /\b([A-Z][A-Z0-9]{0,60}_[A-Z0-9_]{1,60})['"`]?:? (?:is |was )?(?:not set|unset|undefined|missing|required)\b/g,
  /(?:KeyError: |[Mm]issing |environment variable )['"`]?([A-Z][A-Z0-9]{0,60}_[A-Z0-9_]{1,60})\b/g,
];

const GIVEN =
  /^(?:PATH|HOME|USER|SHELL|LANG|LC_\w+|TZ|TMPDIR|PWD|OLDPWD|IFS|PS\d|HOSTNAME|TERM|SLUICE_\w+|TRACEPARENT|TRACESTATE)$/;

/** Finds the variables that words for a shell read and do not set. */
function readIn(argv: readonly string[]): readonly string[] {
  const words = argv.join('\n');
  const read = [...words.matchAll(/\$\{?([A-Z][A-Z0-9_]*)/g)].map(([, name = '']) => name);
  return read.filter((name) => !words.includes(`${name}=`));
}

/** Says how a command gets the variable that it lacks; undefined where neither its error nor its words name one. */
export function environmentNote(
  { argv, env, passEnv }: CommandSettings,
  error: string,
  key: string,
): Sentence | undefined {
  const said = ABSENT.flatMap((form) => [...error.matchAll(form)].map(([, name = '']) => name));
  const named = said.length > 0 || passEnv.length > 0 ? said : readIn(argv);
  const missing = [...new Set(named)].filter((name) => !GIVEN.test(name) && !Object.hasOwn(env, name));
  const unset = missing.filter((name) => passEnv.includes(name)).join(', ');
  if (unset !== '')
    return say`passEnv hands ${unset} on, and the command did not find it: the service itself does not have it. Set ${unset} where the service is started, and start it again`;
  if (missing.length === 0) return undefined;
  return say`of the environment of the service a command gets only PATH, HOME, USER, SHELL, LANG, LC_*, TZ and TMPDIR, and what passEnv names and env sets. It reads ${missing.join(', ')}. ${write(`passEnv: [${[...passEnv, ...missing].join(', ')}]`, `at ${key}`)}`;
}

/** Applies where a run ended because its time was over. */
function endedByTime({ config, mapping, stored }: RunFacts): readonly Finding[] {
  const ended = stored?.runs.find(({ run: { outcome } }) => outcome === 'timeout')?.run.action;
  if (ended?.kind !== 'agent') return [];
  const own = mapping?.timeoutSeconds ?? ended.timeoutSeconds;
  const { timeoutSeconds, maxTimeoutSeconds } = config.settings.agents.defaults;
  const defaultAt = (key: string): Place | undefined =>
    placeIfWritten(config.root, ['agents', 'defaults', key]);
  if ((own ?? timeoutSeconds) > maxTimeoutSeconds) {
    const text = say`no run may take more than ${spanOf(maxTimeoutSeconds)}, and this one asked for more: if it needs it, write a larger maxTimeoutSeconds below agents.defaults`;
    return ofRun('timeoutSeconds', text, defaultAt('maxTimeoutSeconds'));
  }
  const limit = own ?? timeoutSeconds;
  const text = say`a run may take ${spanOf(limit)}${own === undefined ? ' (agents.defaults.timeoutSeconds)' : ` in this mapping`}: if it needs longer, write a larger timeoutSeconds ${own === undefined ? 'there or in the mapping' : 'there'}, such as timeoutSeconds: ${Math.max(300, limit * 4)}`;
  return ofRun('timeoutSeconds', text, own === undefined ? defaultAt('timeoutSeconds') : mapping?.at);
}
