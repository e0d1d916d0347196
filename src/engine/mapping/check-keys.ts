import { type Finding, type LocatedValue, type Path, validate } from '../../base/document/document.ts';
import { say } from '../../base/finding.ts';
import type { MappingEntry } from './compile-options.ts';
import { type MappingReporter, createReporter } from './reporter.ts';
import { type MappingSource, MappingSchema } from './mapping-schema.ts';

/** What a mapping of an OpenClaw file may have (2026.9.6); its gateway does not start with any other key. */
export const GATEWAY_KEYS: ReadonlySet<string> = new Set(
  `id match action wakeMode name agentId sessionKey sessionMode messageTemplate textTemplate forEach deliver
  allowUnsafeExternalContent channel to model thinking timeoutSeconds transform`.split(/\s+/),
);
const GATEWAY_PARTS: readonly (readonly [part: string, keys: readonly string[]])[] = [
  ['match', ['path', 'source']],
  ['transform', ['module', 'export']],
];

/** Keys of ours in a file of a gateway: they work here, and keep the gateway from starting. */
function checkGatewayKeys(located: LocatedValue, own: Readonly<Record<string, unknown>>): readonly Finding[] {
  const keysAt = (path: Path): readonly string[] => {
    const { value } = located.at(path);
    return typeof value === 'object' && value !== null ? Object.keys(value) : [];
  };
  const paths: readonly Path[] = [
    ...keysAt([]).flatMap((key) => (GATEWAY_KEYS.has(key) || !Object.hasOwn(own, key) ? [] : [[key]])),
    ...GATEWAY_PARTS.flatMap(([part, known]) =>
      keysAt([part]).flatMap((key) => (known.includes(key) ? [] : [[part, key]])),
    ),
  ];
  return paths.map((path) => ({
    severity: 'warning',
    code: 'UNKNOWN_KEY',
    message: say`the gateway knows no key "${path.join('.')}" in a mapping, and does not start with this file`,
    at: located.place(path, 'key'),
    hint: say`move the mapping into hooks.mappings of a sluice.yaml with "extends: openclaw.json"`,
  }));
}

interface CheckedKeys {
  readonly source: MappingSource;
  readonly reporter: MappingReporter;
  readonly behaviours: MappingEntry['behaviours'];
}

export function checkTemplateKey({ source, reporter, behaviours }: CheckedKeys): void {
  const { action = 'agent' } = source;
  if (action === 'skip') return;
  const [right, wrong] = templateKeys(action);
  if (source[wrong] !== undefined) {
    const finding = {
      code: 'WRONG_TEMPLATE_KEY',
      severity: behaviours.toleratesMistakes ? 'warning' : 'error',
      message: say`the template of action ${action} is ${right}, found ${wrong}`,
      ...(source[right] === undefined
        ? { hint: say`rename it to ${right}`, replace: { from: wrong, to: right } }
        : { hint: say`keep one of the two: move what you need into ${right}` }),
    } as const;
    reporter.report([wrong], finding, 'key');
  }
}

/** The key that holds the template of an action, and the one that does not. */
export function templateKeys(
  action: string,
): readonly ['textTemplate' | 'messageTemplate', 'textTemplate' | 'messageTemplate'] {
  return action === 'wake' ? ['textTemplate', 'messageTemplate'] : ['messageTemplate', 'textTemplate'];
}

/** The keys of an entry, as far as their values are right; undefined where it is no mapping at all. */
export function readEntry(entry: MappingEntry): {
  readonly value: MappingSource | undefined;
  readonly located: LocatedValue;
  readonly reporter: MappingReporter;
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
