import { validate, type LocatedValue } from '../../base/document/document.ts';
import { checkGatewayKeys } from './check-keys.ts';
import type { MappingEntry } from './compile-options.ts';
import { createReporter, type Reporter } from './mapping-codes.ts';
import { MappingSchema, type MappingSource } from './mapping-schema.ts';

/** The keys of an entry, as far as their values are right; undefined where it is no mapping at all. */
export function readEntry(entry: MappingEntry): {
  readonly value: MappingSource | undefined;
  readonly located: LocatedValue;
  readonly reporter: Reporter;
  readonly isWhole: boolean;
} {
  const foreign = entry.behaviours.hasGatewayForm ? ['agentId'] : [];
  const located = withoutKeys(entry.value, [...unknownKeys(entry), ...foreign]);
  const reporter = createReporter(located);
  const whole = validate(located, MappingSchema, 'mapping');
  reporter.findings.push(...whole.findings);
  if (entry.behaviours.hasGatewayForm)
    reporter.findings.push(...checkGatewayKeys(entry.value, MappingSchema.shape));
  // Keys with a wrong value are left out for the rest of the checks.
  const value = whole.value ?? validate(withoutKeys(located, wrongKeys(located.value)), MappingSchema).value;
  return { value, located, reporter, isWhole: whole.value !== undefined };
}

function wrongKeys(value: unknown): readonly string[] {
  const issues = MappingSchema.safeParse(value).error?.issues ?? [];
  return issues.flatMap((issue) => {
    const [key] = issue.path;
    if (issue.code === 'unrecognized_keys' && key === undefined) return issue.keys;
    return key === undefined ? [] : [String(key)];
  });
}

/** Keys of a mapping that an OpenClaw file may have and we have no use for. */
export function unknownKeys({ value: located, behaviours }: MappingEntry): readonly string[] {
  const { value } = located;
  if (!behaviours.hasGatewayForm || typeof value !== 'object' || value === null) return [];
  return Object.keys(value).filter((key) => key !== 'agentId' && !Object.hasOwn(MappingSchema.shape, key));
}

function withoutKeys(located: LocatedValue, keys: readonly string[]): LocatedValue {
  const { value } = located;
  if (keys.length === 0 || typeof value !== 'object' || value === null) return located;
  const kept = Object.entries(value).filter(([key]) => !keys.includes(key));
  return { ...located, value: Object.fromEntries(kept) };
}
