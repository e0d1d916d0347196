import type { AnyRule } from './rule.ts';
import { NAMES } from './rules/names.ts';

/** All rules, family by family. */
export const RULES: readonly AnyRule[] = [...NAMES];
