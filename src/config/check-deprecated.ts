import type { Path } from '../document/document.ts';
import { say, type Sentence } from '../finding.ts';
import type { Reporter } from './reporter.ts';

/** Keys that will go, with what to write in their place. In the schema they are marked `deprecated`. */
const DEPRECATED: readonly { readonly path: Path; readonly instead: Sentence }[] = [
  { path: ['gateway', 'maxRunsPerMapping'], instead: say`remove it, and write maxRuns into each mapping` },
];

/** Tells each use of a key that still works and will go. */
export function checkDeprecated(reporter: Reporter): void {
  for (const { path, instead } of DEPRECATED) {
    if (reporter.root.at(path).value === undefined) continue;
    reporter.report('DEPRECATED_KEY', path, {
      severity: 'warning',
      key: true,
      message: say`${path.join('.')} is deprecated: it works as before, and goes with a later minor version`,
      hint: instead,
    });
  }
}
