import type { Finding, LocatedValue, Path } from '../../base/document/document.ts';
import { say } from '../../base/finding.ts';
import type { MappingEntry } from './compile-options.ts';
import type { Reporter } from './mapping-codes.ts';
import type { MappingSource } from './mapping-schema.ts';

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
export function checkGatewayKeys(
  located: LocatedValue,
  own: Readonly<Record<string, unknown>>,
): readonly Finding[] {
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
  readonly reporter: Reporter;
  readonly behaviours: MappingEntry['behaviours'];
}

/** Of the two template keys only that of the action is read. */
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
