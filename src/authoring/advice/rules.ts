import type { Join } from './join.ts';
import type { AnyLook, AnyRule } from './rule.ts';
import { COMMANDS, RUNNER_SAFETY } from './rules/commands.ts';
import { CONFIGURATION_RULES, SECRETS, RUNNERS } from './rules/configuration.ts';
import { HELPER_USAGE, UNKNOWN_HELPERS } from './rules/helpers.ts';
import { MODULE_LOOKS, MODULES } from './rules/modules.ts';
import { CHANNEL_SETTINGS, channelSettings } from './rules/channel-settings.ts';
import { CONDITION_LOOKS } from './rules/condition-looks.ts';
import { CONDITIONS } from './rules/conditions.ts';
import { NAMES } from './rules/names.ts';
import { DOUBLE_KEYS, KEYS } from './rules/keys.ts';
import { joinedKeys } from './rules/joined-keys.ts';
import { JSON_SYNTAX } from './rules/json-syntax.ts';
import { RENDERED } from './rules/rendered.ts';
import { SAMPLES } from './rules/samples.ts';
import { TRANSFORMS } from './rules/transforms.ts';
import { UNKNOWN_KEYS } from './rules/unknown-keys.ts';
import { PATH_LOOKS, PATHS } from './rules/paths.ts';
import { REPLIES } from './rules/replies.ts';
import { TEXT_LOOKS } from './rules/texts.ts';
import { VALUES } from './rules/values.ts';
import { YAML_SYNTAX, yamlStumbles } from './rules/yaml-syntax.ts';
import { TEMPLATE_LOOKS, TEMPLATES } from './rules/templates.ts';

/** All rules on findings of the engine, family by family. */
export const RULES: readonly AnyRule[] = [
  ...NAMES,
  ...RUNNER_SAFETY,
  ...TEMPLATES,
  ...UNKNOWN_HELPERS,
  ...HELPER_USAGE,
  ...MODULES,
  ...YAML_SYNTAX,
  ...JSON_SYNTAX,
  ...DOUBLE_KEYS,
  ...UNKNOWN_KEYS,
  ...VALUES,
  ...SECRETS,
  ...TRANSFORMS,
  ...RENDERED,
  ...CONFIGURATION_RULES,
  ...CONDITIONS,
  ...CHANNEL_SETTINGS,
  ...RUNNERS,
  ...PATHS,
];

/** What becomes one finding before rules are asked. */
export const JOINS: readonly Join[] = [yamlStumbles, joinedKeys, channelSettings];

/** All looks at what the engine took, family by family. Their codes are advice's own. */
export const LOOKS: readonly AnyLook[] = [
  ...KEYS,
  ...TEXT_LOOKS,
  ...PATH_LOOKS,
  ...COMMANDS,
  ...TEMPLATE_LOOKS,
  ...MODULE_LOOKS,
  ...REPLIES,
  ...CONDITION_LOOKS,
  ...SAMPLES,
];
