import { defined } from '../../base/json.ts';
import type { Finding } from '../../base/document/document.ts';
import { findingToJson, type FindingJson } from '../../base/document/facts.ts';

/** A finding as an editor shows it: with its edit, in offsets of the text as it was judged. */
export interface ShownFinding extends FindingJson {
  readonly edit?: { readonly from: number; readonly to: number; readonly text: string };
}

export const shownFinding = ({ edit, ...finding }: Finding): ShownFinding => ({
  ...findingToJson(finding),
  ...defined({ edit: edit && { from: edit.at.start, to: edit.at.end, text: edit.text } }),
});
