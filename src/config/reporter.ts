import { defined } from '../json.ts';
import type { Sentence } from '../finding.ts';
import {
  replaceWithin,
  withEdit,
  type Finding,
  type LocatedValue,
  type Path,
  type Place,
} from '../document/document.ts';
import type { ConfigCode } from './config-codes.ts';

/** Collects findings about one configuration file. */
export interface Reporter {
  readonly root: LocatedValue;
  report(code: ConfigCode, path: Path, finding: Report): void;
  /** Takes findings of a schema. */
  add(findings: readonly Finding[]): void;
}

interface Report {
  readonly message: Sentence;
  readonly hint?: Sentence | undefined;
  /** What advice needs to know, by code. */
  readonly facts?: object;
  /** Default `error`. */
  readonly severity?: 'error' | 'warning';
  /** Points at the key instead of the value. */
  readonly key?: boolean;
  readonly labels?: readonly { readonly at: Place; readonly text: Sentence }[];
  /** Whether the value holds a secret, which no finding may show. */
  readonly hides?: boolean;
  /** Comes last, without lines of the file. */
  readonly isGeneral?: boolean;
  /** The hint as an edit at the place of the finding. */
  readonly replace?: { readonly from: string; readonly to: string } | undefined;
}

export function createReporter(root: LocatedValue, diagnostics: Finding[]): Reporter {
  return {
    root,
    add: (findings) => void diagnostics.push(...findings),
    report: (code, path, finding) => void diagnostics.push(diagnosticAt(root, path, { code, ...finding })),
  };
}

function diagnosticAt(
  root: LocatedValue,
  path: Path,
  finding: Report & { readonly code: ConfigCode },
): Finding {
  const {
    code,
    message,
    hint,
    facts,
    replace,
    severity = 'error',
    key = false,
    labels = [],
    hides = false,
  } = finding;
  const at = root.place(path, key ? 'key' : 'value');
  const found: Finding = {
    severity,
    code,
    message,
    at,
    ...(labels.length === 0 ? {} : { labels }),
    ...defined({ hint, facts }),
    ...(finding.isGeneral === true ? { isGeneral: true } : {}),
    ...(hides ? { hides: [root.place(path)] } : {}),
  };
  return withEdit(found, replace && replaceWithin(at, replace.from, replace.to));
}
