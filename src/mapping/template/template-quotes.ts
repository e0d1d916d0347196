/* Quotes of word processors and chats, which are letters to Handlebars: “opened”, „offen“, ‘x’, «x». */
import { say } from '../../finding.ts';
import type { Finding, Place } from '../../document/document.ts';

const SIGNS = '“”„‟‘’‚«»';
/** A text in its quotes, or a name in brackets, where such a sign is a letter; else the text between two such signs. */
const IN_EXPRESSION = new RegExp(`"[^"]*"|'[^']*'|\\[[^\\]]*\\]|[${SIGNS}]([^${SIGNS}"']*)[${SIGNS}]`, 'g');

/** Expressions of a template with such quotes; undefined where there are none, or the template is wrong without them, too. */
export function findQuotes(
  source: string,
  placeOf: (start: number, end: number) => Place,
  isRight: (text: string) => boolean,
): Finding | undefined {
  const at = placeOf(0, source.length);
  const sign = at.source.text[at.start] === '"' ? "'" : '"';
  const written: string[] = [];
  let first: Place | undefined;
  const text = source.replaceAll(/\{\{[^{}]*\}\}/g, (expression, start: number) => {
    const plain = expression.replaceAll(IN_EXPRESSION, (whole, inner: string | undefined) =>
      inner === undefined ? whole : sign + inner + sign,
    );
    if (plain === expression) return expression;
    first ??= placeOf(start, start + expression.length);
    written.push(plain);
    return plain;
  });
  if (first === undefined || !isRight(text)) return undefined;
  const found = source.slice(source.search(new RegExp(`[${SIGNS}]`))).charAt(0);
  return {
    severity: 'error',
    code: 'TEMPLATE_SYNTAX',
    message: say`${found} is no quote of a template`,
    at: first,
    facts: { wrong: 'quotes', written: [...new Set(written)] },
  };
}
