import { say } from '../finding.ts';
import { withEdit, type Place } from '../document/document.ts';
import { TEXTS, type CheckedTexts } from './check-texts.ts';
import type { MappingCode } from './mapping-codes.ts';

/** `\n` in a text that YAML takes as it stands: only between double quotes it is the end of a line. */
export function checkEscapes({ source, located, reporter }: CheckedTexts): void {
  for (const key of TEXTS) {
    if (typeof source[key] !== 'string') continue;
    const at = located.place([key]);
    const written = at.source.text.slice(at.start, at.end);
    if (written.startsWith('"') || !hasLineEnd(written)) continue;
    const isBlock = /^[|>]/.test(written);
    const edit = isBlock ? undefined : quoted(at, written);
    const finding = {
      severity: 'warning',
      code: 'ESCAPE_NOT_READ' satisfies MappingCode,
      message: say`\\n in ${key} is a backslash and an n: YAML reads it as the end of a line only between double quotes`,
      at,
      hint: isBlock
        ? say`end the line there in place of \\n: a text that begins with | keeps its lines`
        : say`write ${edit === undefined ? 'the text between double quotes' : edit.text.slice(0, MAX_SHOWN)}, or its lines below a |`,
    } as const;
    reporter.diagnostics.push(withEdit(finding, edit));
  }
}

/** Letters of a text that is written out. */
const MAX_SHOWN = 200;

/** Not a folder such as `C:\new`, nor a pattern of letters and digits. */
const hasLineEnd = (written: string): boolean =>
  /\\n(?![a-z])|(?<=\}\}|[.!?,)])\\n/.test(written) &&
  !/(?:[A-Za-z]:|\\\\)[^\s"']{0,100}\\n|\\[dswb]/.test(written);

/** The same text between double quotes, where no other sign in it would mean another thing there. */
function quoted(at: Place, written: string): { readonly at: Place; readonly text: string } | undefined {
  if (/\\(?!n)|\n/.test(written)) return undefined;
  const text = written.startsWith("'") ? written.slice(1, -1).replaceAll("''", "'") : written;
  return { at, text: `"${text.replaceAll('"', String.raw`\"`)}"` };
}
