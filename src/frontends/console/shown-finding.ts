import { printSentence } from '../../base/finding.ts';
import { isAbsolute } from 'node:path';
import { formatPlace, type Finding } from '../../base/document/document.ts';
import type { ShownFinding } from './protocol.ts';

/** The folder of a draft: a copy below a root, and the name that the real one is shown by. */
export interface DraftFolder {
  readonly root: string;
  readonly shown: string;
}

/** A file of the copy by the name it has in the real folder. */
function nameOf(name: string, { root, shown }: DraftFolder): string {
  if (isAbsolute(shown) && `/${name}`.startsWith(shown)) return `/${name}`;
  return name.replace(`${root}/`, '');
}

/** A finding as the page shows it; files of the copy are named as in the real folder. */
export function shownFinding(
  { severity, code, message, hint, at, edit }: Finding,
  folder: DraftFolder,
): ShownFinding {
  return {
    severity,
    code,
    message: printSentence(message),
    ...(hint === undefined ? {} : { hint: printSentence(hint) }),
    ...(at === undefined
      ? {}
      : { file: nameOf(at.source.file, folder), place: nameOf(formatPlace(at), folder) }),
    from: at?.start ?? 0,
    to: at?.end ?? 0,
    ...(edit === undefined ? {} : { edit: { from: edit.at.start, to: edit.at.end, text: edit.text } }),
  };
}
