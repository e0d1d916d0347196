/* Quotes of word processors and chats, which are letters to Handlebars: “opened”, „offen“, ‘x’, «x». */
import { say } from '../../finding.ts';
import type { Finding, Place } from '../../document/document.ts';

const SIGNS = '“”„‟‘’‚«»';
/** The first of two such signs with a text between them; a lone one, as in `{{it’s}}`, one in quotes or in brackets, is a letter. */
const SIGN = new RegExp(`"[^"]*"|'[^']*'|\\[[^\\]]*\\]|([${SIGNS}])[^${SIGNS}"']*[${SIGNS}]`, 'g');

/** The first expression of a template with such quotes; undefined where there is none. */
export function findQuotes(
  source: string,
  placeOf: (start: number, end: number) => Place,
): Finding | undefined {
  for (const { 0: expression, index: start } of source.matchAll(/\{\{[^{}]*\}\}/g)) {
    const sign = [...expression.matchAll(SIGN)].find((match) => match[1] !== undefined)?.[1];
    if (sign === undefined || /^\{\{~?!/.test(expression)) continue;
    return {
      severity: 'error',
      code: 'TEMPLATE_SYNTAX',
      message: say`${sign} is no quote of a template`,
      hint: say`write " or ' in the place of each of them`,
      at: placeOf(start, start + expression.length),
    };
  }
  return undefined;
}
