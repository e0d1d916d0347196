import { say } from '../../base/finding.ts';
import { resolve } from 'node:path';
import { namesMainSession } from '../../base/action.ts';
import type { ConfigFile } from './config-schema.ts';
import type { ConfigFacts } from './finding-facts.ts';
import type { Behaviours } from './openclaw/behaviours.ts';
import type { ConfigReporter } from './reporter.ts';
import { resolveMail } from './mail-schema.ts';
import type { HooksSettings } from './settings.ts';

export interface SettingsContext {
  readonly reporter: ConfigReporter;
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly behaviours: Behaviours;
  readonly dev: boolean;
}

/** Built-in presets; `gmail` is `mail` answering on `/gmail` too. */
const PRESETS: readonly string[] = ['mail', 'gmail'];

/** The block `hooks`, and what is wrong with it that a schema cannot see. */
export function hooksSettings({ hooks, gateway }: ConfigFile, context: SettingsContext): HooksSettings {
  const { reporter } = context;
  if (!hooks.enabled) reportDisabled(reporter);
  const { mail: mailBlock, mappings: _, ...written } = hooks;
  const mail = resolveMail(mailBlock, context);
  checkSessionKeys(hooks.sessionKeys, context);
  checkAgents(hooks.agents, reporter);
  return {
    ...written,
    ...standardSettings(hooks, context),
    path: hooksPath(hooks.path, reporter, gateway),
    presets: presetNames(hooks.presets, context),
    ...(mail === undefined ? {} : { mail }),
  };
}

function reportDisabled(reporter: ConfigReporter): void {
  reporter.report('HOOKS_DISABLED', ['hooks', 'enabled'], {
    severity: 'warning',
    message: say`hooks are off: every path is answered 404`,
    hint: say`set hooks.enabled to true`,
  });
}

type Standard = 'mappingsDir' | 'transformsDir' | 'maxBodyBytesByName' | 'lenient' | 'behaviours';

/** What a file means where it says nothing. */
function standardSettings(
  { mappingsDir = 'mappings', transformsDir, maxBodyBytes, lenient }: ConfigFile['hooks'],
  { directory, behaviours }: SettingsContext,
): Pick<HooksSettings, Standard> {
  const { transformsFolder = 'transforms', gmailBodyBytes = 0, isLenient = false } = behaviours;
  return {
    mappingsDir: resolve(directory, mappingsDir),
    transformsDir: resolve(directory, transformsDir ?? transformsFolder),
    maxBodyBytesByName: gmailBodyBytes > maxBodyBytes ? { gmail: gmailBodyBytes } : {},
    lenient: lenient ?? isLenient,
    behaviours,
  };
}

function checkSessionKeys(
  keys: ConfigFile['hooks']['sessionKeys'],
  { reporter, behaviours }: SettingsContext,
): void {
  const { default: standard } = keys;
  if (standard !== undefined && namesMainSession(standard.trim())) {
    reporter.report('MAIN_SESSION_KEY', ['hooks', 'sessionKeys', 'default'], {
      message: say`hooks.sessionKeys.default is the key of the main session, which hooks may not use`,
      hint: say`choose another key, such as hook:default, or remove it: then each run has a session of its own`,
    });
  }
  if (behaviours.hasGatewaySessionKeys) checkDefaultKey(keys, reporter);
}

/** There a default key outside the allowed prefixes keeps the gateway from starting; here, too. */
function checkDefaultKey(
  { default: key, allowedPrefixes }: ConfigFile['hooks']['sessionKeys'],
  reporter: ConfigReporter,
): void {
  const prefixes = allowedPrefixes
    .map((prefix) => prefix.trim().toLowerCase())
    .filter((prefix) => prefix !== '');
  const written = (key ?? 'hook:').toLowerCase();
  if (prefixes.length === 0 || prefixes.some((prefix) => written.startsWith(prefix))) return;
  const finding = key === undefined ? GENERATED_KEY_LEFT_OUT : defaultKeyLeftOut(key);
  reporter.report('SESSION_KEY_PREFIX', ['hooks', 'sessionKeys', 'allowedPrefixes'], finding);
}

const GENERATED_KEY_LEFT_OUT = {
  message: say`the allowed prefixes lack "hook:", with which generated session keys begin`,
  hint: say`add "hook:", or set a default session key`,
};

function defaultKeyLeftOut(key: string): typeof GENERATED_KEY_LEFT_OUT {
  return {
    message: say`the default session key "${key.slice(0, 80)}" begins with none of the allowed prefixes`,
    hint: say`add its prefix, or choose another default`,
  };
}

function checkAgents(
  { runners, default: name }: ConfigFile['hooks']['agents'],
  reporter: ConfigReporter,
): void {
  if (name === undefined || Object.hasOwn(runners, name)) return;
  const known = Object.keys(runners);
  reporter.report('UNKNOWN_AGENT', ['hooks', 'agents', 'default'], {
    message: say`there is no agent "${name.slice(0, 80)}" in hooks.agents.runners`,
    facts: { written: name, known } satisfies ConfigFacts['UNKNOWN_AGENT'],
  });
}

/** The path with a leading slash and no trailing ones. */
function hooksPath(
  written: string,
  reporter: ConfigReporter,
  { runner, runners }: ConfigFile['gateway'],
): string {
  const path = `/${written.replaceAll(/^\/+|(?<!\/)\/+$/g, '')}`;
  const all = [runner, ...Object.values(runners)];
  const hasWorkers = all.some((each) => typeof each === 'object' && each.kind === 'worker');
  const isTaken = hasWorkers && /^\/workers(?:\/|$)/.test(path);
  const problem = isTaken
    ? 'must not begin with /workers, where workers ask for runs'
    : hooksPathProblem(path);
  if (problem !== undefined) {
    reporter.report('INVALID_HOOKS_PATH', ['hooks', 'path'], {
      message: say`hooks.path ${problem}`,
      hint: say`choose a path such as /hooks`,
    });
  }
  return path;
}

function hooksPathProblem(path: string): string | undefined {
  if (path === '/') return 'must not be the root: hooks need a path such as /hooks';
  if (path.length > 200) return 'is longer than 200 characters';
  // RFC 3986, section 3.3: what a path segment can hold without being read as something else.
  if (!/^(?:\/[\w.~!$&'()*+,;=:@%-]+)+$/.test(path))
    return 'has an empty part, or a character that is not allowed in the path of a URL';
  if (/\/\.{1,2}(?:\/|$)/.test(path)) return 'must not have . or .. as a part';
  return undefined;
}

/** There an unknown name means nothing, and the gateway starts. */
function presetNames(names: readonly string[], { reporter, behaviours }: SettingsContext): readonly string[] {
  for (const [index, name] of names.entries()) {
    if (PRESETS.includes(name)) continue;
    reporter.report('UNKNOWN_PRESET', ['hooks', 'presets', index], {
      ...(behaviours.toleratesMistakes ? { severity: 'warning' } : {}),
      message: say`there is no preset "${name.slice(0, 80)}"`,
      facts: { written: name, known: PRESETS } satisfies ConfigFacts['UNKNOWN_PRESET'],
    });
  }
  return [...new Set(names)];
}
