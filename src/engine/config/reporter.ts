import { defined } from '../../base/json.ts';
import type { Sentence } from '../../base/finding.ts';
import {
  replaceWithin,
  withEdit,
  type Finding,
  type LocatedValue,
  type Path,
} from '../../base/document/document.ts';
import type { ConfigCode } from './config-codes.ts';

/** Collects findings about one configuration file. */
export interface Reporter {
  readonly root: LocatedValue;
  report(code: ConfigCode, path: Path, finding: Report): void;
  /** Takes findings of a schema. */
  add(findings: readonly Finding[]): void;
}

interface Report extends Pick<Finding, 'message' | 'facts' | 'labels' | 'isGeneral'> {
  readonly hint?: Sentence | undefined;
  /** Default `error`. */
  readonly severity?: Finding['severity'];
  /** Points at the key instead of the value. */
  readonly key?: boolean;
  /** Whether the value holds a secret, which no finding may show. */
  readonly hides?: boolean;
  /** The hint as an edit at the place of the finding. */
  readonly replace?: { readonly from: string; readonly to: string } | undefined;
}

export function createReporter(root: LocatedValue, findings: Finding[]): Reporter {
  return {
    root,
    add: (more) => void findings.push(...more),
    report: (code, path, finding) => void findings.push(findingAt(root, path, { code, ...finding })),
  };
}

function findingAt(
  root: LocatedValue,
  path: Path,
  { replace, key = false, hides = false, ...finding }: Report & { readonly code: ConfigCode },
): Finding {
  const at = root.place(path, key ? 'key' : 'value');
  const found = {
    severity: 'error' as const,
    ...defined({ ...finding, hides: hides ? [root.place(path)] : undefined }),
    at,
  };
  return withEdit(found, replace && replaceWithin(at, replace.from, replace.to));
}
