import type { Join } from './join.ts';
import type { AnyLook, AnyRule } from './rule.ts';
import { COMMANDS, RUNNER_SAFETY } from './rules/commands.ts';
import { CONFIGURATION_RULES } from './rules/configuration.ts';
import { HELPER_USAGE, UNKNOWN_HELPERS } from './rules/helpers.ts';
import { MODULE_LOOKS, MODULES } from './rules/modules.ts';
import { NAMES } from './rules/names.ts';
import { joinedEntries } from './rules/joined-entries.ts';
import { joinedKeys } from './rules/joined-keys.ts';
import { JSON_SYNTAX } from './rules/json-syntax.ts';
import { KEYS } from './rules/keys.ts';
import { RENDERED } from './rules/rendered.ts';
import { TRANSFORMS } from './rules/transforms.ts';
import { UNKNOWN_KEYS } from './rules/unknown-keys.ts';
import { VALUES } from './rules/values.ts';
import { YAML_SYNTAX, yamlStumbles } from './rules/yaml-syntax.ts';
import { TEMPLATE_LOOKS, TEMPLATES } from './rules/templates.ts';
import { LONG_SECONDS } from './values/long-seconds.ts';

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
  ...UNKNOWN_KEYS,
  ...VALUES,
  ...TRANSFORMS,
  ...RENDERED,
  ...CONFIGURATION_RULES,
];

/** What becomes one finding before rules are asked. */
export const JOINS: readonly Join[] = [yamlStumbles, joinedEntries, joinedKeys];

/** All looks at what the engine took, family by family. Their codes are advice's own. */
export const LOOKS: readonly AnyLook[] = [
  ...LONG_SECONDS,
  ...KEYS,
  ...COMMANDS,
  ...TEMPLATE_LOOKS,
  ...MODULE_LOOKS,
];
