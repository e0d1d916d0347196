import { findingAt, type Finding, type LocatedValue, type Path } from '../../base/document/document.ts';

export interface ConfigReporter {
  readonly root: LocatedValue;
  report(code: string, path: Path, finding: ConfigReport): void;
  /** Takes findings of a schema. */
  add(findings: readonly Finding[]): void;
}

interface ConfigReport extends Omit<Parameters<typeof findingAt>[1], 'code' | 'hides'> {
  /** Points at the key instead of the value. */
  readonly key?: boolean;
  /** Whether the value holds a secret, which no finding may show. */
  readonly hides?: boolean;
}

export function createReporter(root: LocatedValue, findings: Finding[]): ConfigReporter {
  return {
    root,
    add: (more) => void findings.push(...more),
    report: (code, path, { key = false, hides = false, ...finding }) => {
      const at = root.place(path, key ? 'key' : 'value');
      findings.push(findingAt(at, { code, ...finding, ...(hides && { hides: [root.place(path)] }) }));
    },
  };
}
