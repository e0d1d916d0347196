import type { Finding, Place, TextEdit } from '../finding.ts';

/**
 * The edit that replaces the first `from` inside a place; quotes and all else around it stay. Undefined where the file
 * does not have it so, e.g. because of an escape.
 */
export function replaceWithin(at: Place, from: string, to: string): TextEdit | undefined {
  const offset = from === '' ? -1 : at.source.text.slice(at.start, at.end).indexOf(from);
  if (offset === -1) return undefined;
  const start = at.start + offset;
  const before = at.source.text.slice(0, start);
  const isQuoted = /["']$/.test(before) || before.lastIndexOf('{{') > before.lastIndexOf('}}');
  // A sign such as > would be YAML's own, outside of quotes and of the expressions of a template.
  const text = isQuoted || /^[\w./-][\w./ -]*$/.test(to) ? to : JSON.stringify(to);
  return { at: { source: at.source, start, end: start + from.length }, text };
}

/** The text with the edits of its findings; of two that overlap the first is made, the other is left for the next time. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = '';
  let from = 0;
  for (const { at, text: replacement } of edits.toSorted((a, b) => a.at.start - b.at.start)) {
    if (at.start < from) continue;
    result += text.slice(from, at.start) + replacement;
    from = at.end;
  }
  return result + text.slice(from);
}

interface UnplacedFinding extends Omit<Finding, 'severity' | 'at' | 'edit'> {
  /** Default `error`. */
  readonly severity?: Finding['severity'];
  /** The hint as an edit at the place of the finding. */
  readonly replace?: { readonly from: string; readonly to: string };
  /** Makes the edit, where it is more than another word at the place of the finding. */
  readonly editAt?: (at: Place) => TextEdit | undefined;
}

export function findingAt(at: Place, { replace, editAt, ...finding }: UnplacedFinding): Finding {
  const edit = replace === undefined ? editAt?.(at) : replaceWithin(at, replace.from, replace.to);
  return { severity: 'error', ...finding, at, ...(edit && { edit }) };
}
