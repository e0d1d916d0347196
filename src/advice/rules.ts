import type { AnyLook, AnyRule } from './rule.ts';
import { COMMANDS, RUNNER_SAFETY } from './rules/commands.ts';
import { NAMES } from './rules/names.ts';
import { KEYS } from './rules/keys.ts';

/** All rules on findings of the engine, family by family. */
export const RULES: readonly AnyRule[] = [...NAMES, ...RUNNER_SAFETY];

/** All looks at what the engine took, family by family. Their codes are advice's own. */
export const LOOKS: readonly AnyLook[] = [...KEYS, ...COMMANDS];
