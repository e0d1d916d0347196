import {
  replaceWithin,
  withEdit,
  type Diagnostic,
  type LocatedValue,
  type Path,
  type Place,
} from '../document/document.ts';
import type { ConfigCode } from './config-codes.ts';

/** Collects findings about one configuration file. */
export interface Reporter {
  readonly root: LocatedValue;
  report(code: ConfigCode, path: Path, finding: Finding): void;
  /** Takes findings of a schema. */
  add(findings: readonly Diagnostic[]): void;
}

interface Finding {
  readonly message: string;
  readonly hint?: string | undefined;
  /** Default `error`. */
  readonly severity?: 'error' | 'warning';
  /** Points at the key instead of the value. */
  readonly key?: boolean;
  readonly labels?: readonly { readonly at: Place; readonly text: string }[];
  /** The hint as an edit at the place of the finding. */
  readonly replace?: { readonly from: string; readonly to: string } | undefined;
}

export function createReporter(root: LocatedValue, diagnostics: Diagnostic[]): Reporter {
  return {
    root,
    add: (findings) => void diagnostics.push(...findings),
    report(code, path, { message, hint, severity = 'error', key = false, labels = [], replace }) {
      const at = root.place(path, key ? 'key' : 'value');
      const found: Diagnostic = {
        severity,
        code,
        message,
        at,
        ...(labels.length === 0 ? {} : { labels }),
        ...(hint === undefined ? {} : { hint }),
      };
      diagnostics.push(
        replace === undefined ? found : withEdit(found, replaceWithin(at, replace.from, replace.to)),
      );
    },
  };
}
