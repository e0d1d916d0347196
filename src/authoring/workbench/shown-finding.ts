import { defined } from '../../base/json.ts';
import { printSentence } from '../../base/finding.ts';
import { formatPlace, type Finding } from '../../base/document/document.ts';

/** A finding as an editor shows it. */
export interface ShownFinding {
  readonly severity: 'error' | 'warning';
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  /** Absent where it belongs to no file. */
  readonly file?: string;
  readonly place?: string;
  /** Offsets into the file's text. */
  readonly from: number;
  readonly to: number;
  readonly edit?: { readonly from: number; readonly to: number; readonly text: string };
}

export function shownFinding({ severity, code, message, hint, at, edit }: Finding): ShownFinding {
  return {
    severity,
    code,
    message: printSentence(message),
    ...defined({
      hint: hint && printSentence(hint),
      file: at?.source.file,
      place: at && formatPlace(at),
      edit: edit && { from: edit.at.start, to: edit.at.end, text: edit.text },
    }),
    from: at?.start ?? 0,
    to: at?.end ?? 0,
  };
}
