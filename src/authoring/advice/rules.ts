import { say, type Sentence } from '../../base/finding.ts';
import type { Join, Look, Rules } from './rule.ts';
import { COMMANDS, RUNNER_SAFETY } from './rules/commands.ts';
import { CONFIGURATION_RULES } from './rules/configuration.ts';
import { HELPER_RULES } from './rules/helpers.ts';
import { MODULES } from './rules/modules.ts';
import { CHANNEL_RULES, channelSettings } from './rules/channel-settings.ts';
import { CONDITION_LOOKS } from './rules/condition-looks.ts';
import { CONDITIONS } from './rules/conditions.ts';
import { NAMES } from './rules/names.ts';
import { KEYS } from './rules/keys.ts';
import { JSON_SYNTAX } from './rules/json-syntax.ts';
import { RENDERED } from './rules/rendered.ts';
import { SAMPLES } from './rules/samples.ts';
import { TRANSFORMS } from './rules/transforms.ts';
import { joinedKeys, UNKNOWN_KEYS } from './rules/unknown-keys.ts';
import { PATH_LOOKS, PATHS } from './rules/paths.ts';
import { REPLIES } from './rules/replies.ts';
import { TEXT_LOOKS } from './rules/texts.ts';
import { VALUES } from './rules/values.ts';
import { YAML_SYNTAX } from './rules/yaml-syntax.ts';
import { TEMPLATE_LOOKS, TEMPLATES } from './rules/templates.ts';

/** All rules on findings of the engine. Each code belongs to one family. */
export const RULES: Rules = {
  ...NAMES,
  ...RUNNER_SAFETY,
  ...TEMPLATES,
  ...HELPER_RULES,
  ...MODULES,
  ...YAML_SYNTAX,
  ...JSON_SYNTAX,
  ...UNKNOWN_KEYS,
  ...VALUES,
  ...TRANSFORMS,
  ...RENDERED,
  ...CONFIGURATION_RULES,
  ...CONDITIONS,
  ...CHANNEL_RULES,
  ...PATHS,
};

const INTO_FOLDER = say`move the file into hooks.transformsDir: links are followed before this is decided`;

/** What to do about a finding by its code, where no rule knows more. */
export const REMEDIES: Readonly<Record<string, Sentence>> = {
  YAML_TAB: say`replace every tab at the beginning of a line with two spaces for each level`,
  NON_STRING_KEY: say`quote the key`,
  MULTIPLE_DOCUMENTS: say`put each document into a file of its own, or make a list: begin the first line of each with "- ", indent all other lines by two spaces, and remove ---`,
  DUPLICATE_KEY: say`keep one of the two, with what is meant of both (a match has one when, whose rules are joined by "and" or "or"); where a new entry of a list begins here, begin it with a dash`,
  PLUGIN_NOT_LOADED: say`name a package that is installed, or a file relative to the configuration; its default export is a channel module`,
  COST_NOT_TOLD: say`give it a Claude Code or opencode agent as runner, which say it; or bound the runs in place of what they cost: limits: {runsPerHour: 60}`,
  CONDITION_NOT_ONE_OPERATOR: say`write each in { } of its own, and join them: {"and": [{…}, {…}]}; a field is read by {"var": "name"}`,
  CONDITION_LOG: say`use "sluice explain", which shows every value a condition read, in place of it`,
  CONDITION_TOO_DEEP: say`give "and" and "or" one long list instead of nesting them, or decide in a transform`,
  TEMPLATE_NOT_SUPPORTED: say`write the text itself into the template, or compose it in a transform`,
  TEMPLATE_TOO_LONG: say`shorten it, or compose the text in a transform`,
  INVALID_MAPPING_PATH: say`write it as senders write it in the URL: a hook name is compared as it is, also percent escapes, and is no pattern; a mapping without match.path takes every name`,
  DUPLICATE_MAPPING_ID: say`give one of them another id: logs, golden files and dedupe tell mappings apart by it`,
  OPENCLAW_SHARED_CONVERSATIONS: say`move a mapping into a file of hooks.mappingsDir, with an id, and its conversations are its own`,
  MAPPING_FILE_SHAPE: say`start with match: {path: name} and messageTemplate, or move the file out of hooks.mappingsDir`,
  MAPPING_FILE_PASSED_OVER: say`move the files up: folders inside the mappings folder are passed over`,
  TRANSFORM_NOT_FOUND: say`create it, or check the name: it is relative to hooks.transformsDir`,
  TRANSFORM_OUTSIDE: INTO_FOLDER,
  TRANSFORM_IMPORT_OUTSIDE: INTO_FOLDER,
  TRANSFORM_IMPORT_NOT_FOUND: say`write the name with its ending, relative to this file`,
  TRANSFORM_DYNAMIC_IMPORT: say`write a static import`,
  TRANSFORM_REQUIRE: say`write a static import`,
  TRANSFORM_TOP_LEVEL_AWAIT: say`move it into the function, which may be async`,
  TRANSFORM_SYNTAX: say`correct the code at this place, or before it`,
  TRANSFORM_LOADER_FAILED: say`check whether the code of the transform, too little memory or time, or missing permissions stop the loader, which is a Node.js process of its own`,
  TRANSFORM_NOT_CHECKED: say`run sluice check again where the machine has less to do`,
  TRANSFORM_FORGETS: say`to recognise repeats write dedupe: {key: '{{payload.id}}'} in the mapping, with the field that is the same in each repeat; to keep it in memory from call to call, write reuse: true in the transform`,
  TRANSFORM_TOP_LEVEL_FAILED: say`look at the place shown: what fails there runs before any call; a name that is not defined has to be declared or imported, and the sandbox has no network, files, timers or process`,
  TRANSFORM_HEAVY_TOP_LEVEL: say`move the work into the function where only some calls need it, or share state between calls with reuse: true`,
  seconds_as_milliseconds: say`write new Date(seconds * 1000)`,
  rounded_number: say`write exact(payload.order, 'id') for payload.order.id, with exact from the argument: ({ payload, exact }) => …`,
  promise_as_text: say`write await before the call, and for a list of promises const lines = await Promise.all(list.map(…)), in an async function: a promise was put into a text before it was waited for`,
  invalid_date: say`look at the field that new Date gets, which is no time, or nothing; for a number of seconds write new Date(seconds * 1000)`,
  nan_as_text: say`look at the fields that the calculation reads: one is no number, or is not there; a text with a number in it needs Number(…)`,
  class_instance: say`return a plain object`,
};

/** Each join makes one finding of several before rules are asked. */
export const JOINS: readonly Join[] = [joinedKeys, channelSettings];

/** All looks at what the engine accepted. Their codes belong to advice. */
export const LOOKS: readonly Look[] = [
  ...KEYS,
  ...TEXT_LOOKS,
  ...PATH_LOOKS,
  ...COMMANDS,
  ...TEMPLATE_LOOKS,
  ...REPLIES,
  ...CONDITION_LOOKS,
  ...SAMPLES,
];
