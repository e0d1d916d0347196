import { say } from '../finding.ts';
import { withEdit, type Place } from '../document/document.ts';
import { TEXTS, type CheckedTexts } from './check-texts.ts';
import type { MappingCode } from './mapping-codes.ts';

/** Lists in a block that YAML folds: `>` joins its lines into one. */
export function checkFolded({ source, located, reporter }: CheckedTexts): void {
  for (const key of TEXTS) {
    if (typeof source[key] !== 'string') continue;
    const { source: file, start, end } = located.place([key]);
    const written = file.text.slice(start, end);
    if (!written.startsWith('>') || !hasFoldedList(written)) continue;
    const at: Place = { source: file, start, end: start + 1 };
    reporter.diagnostics.push(
      withEdit(
        {
          severity: 'warning',
          code: 'LINES_FOLDED' satisfies MappingCode,
          message: say`the lines of ${key} are a list, and ">" joins them into one line`,
          at,
          hint: say`write | in place of >: it keeps the lines as they are`,
        },
        { at, text: '|' },
      ),
    );
  }
}

const ITEM = /^(?:[-*•] |\d{1,2}[.)] )/;
/** `Title: {{title}}`. */
const LABEL = /^\p{Lu}[\p{L} -]{0,30}: ?\{\{/u;
/** `By {{sender.login}}`: short, and ends with a value; a text of sentences has no three of them below each other. */
const OWN_LINE = /^\p{Lu}[^{}.!?]{0,30}\{\{[^{}]{1,40}\}\}$/u;
const EACH = /^\{\{~?#each\b[^{}]*\}\}$/;

/** Whether lines of a list are joined: two of them, or what a loop prints for each element. Deeper lines are kept. */
function hasFoldedList(written: string): boolean {
  const lines = written.split('\n').slice(1);
  const depth = lines
    .filter((each) => each.trim() !== '')
    .reduce((least, each) => Math.min(least, depthOf(each)), Infinity);
  const folded = lines.map((each) => (depthOf(each) === depth ? each.trim() : ''));
  const isList = folded.filter((each) => ITEM.test(each)).length > 1;
  if (isList && folded.some((each, index) => ITEM.test(each) && (folded[index - 1] ?? '') !== ''))
    return true;
  if (folded.some((each, index) => LABEL.test(each) && LABEL.test(folded[index + 1] ?? ''))) return true;
  if (folded.some((_, index) => [0, 1, 2].every((next) => OWN_LINE.test(folded[index + next] ?? ''))))
    return true;
  return folded.some((each, index) => EACH.test(each) && isLine(folded[index + 1] ?? ''));
}

const depthOf = (text: string): number => text.length - text.trimStart().length;

/** Whether a loop prints a line: not a lone value, or one with a comma behind it, which are meant to stand in a row. */
function isLine(text: string): boolean {
  if (ITEM.test(text)) return true;
  return text !== '' && !/^\{\{[^{}]*\}\}$|^\{\{#|[,;|]$|\{\{~?\/\w+~?\}\}$/.test(text);
}
