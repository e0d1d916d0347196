import { isJsonText } from '../../../base/json.ts';
import type { Finding } from '../../../base/finding.ts';
import type { Advice, Rules } from '../rule.ts';

/** Longer texts are not repeated, and neither are those that may be secrets. */
const MAX_SHOWN = 300;

function escaped(written: string): string {
  const text = written.replaceAll(/\r?\n/g, String.raw`\n`).replaceAll('\t', String.raw`\t`);
  const isShown = written.includes('{{') && text.length <= MAX_SHOWN && !/[\p{Cc}]/u.test(text);
  return isShown ? `write the text in one line: ${text}` : String.raw`write it as an escape such as \n`;
}

function inJson({ at }: Finding): Advice | undefined {
  if (at === undefined) return undefined;
  const before = at.source.text.slice(0, at.start).trimEnd();
  const rest = at.source.text.slice(at.start);
  if (before.endsWith(',') && /^[}\]]/.test(rest)) {
    const edit = { at: { ...at, start: before.length - 1, end: before.length }, text: '' };
    return { hint: 'remove the comma before it', edit };
  }
  if (rest.startsWith('/')) return 'remove it, as all other comments of this file: JSON has none';
  if (/^[[{]/.test(rest) && /^\s*\{[^]*\}$/.test(before) && isJsonText(before))
    return 'make one list of several objects: [ before the first, a comma between them, and ] behind the last';
  return rest.startsWith("'") ? 'write JSON strings in double quotes' : undefined;
}

export const JSON_SYNTAX: Rules = {
  JSON_SYNTAX: [
    (facts) => ('text' in facts ? escaped(facts.text) : undefined),
    (facts, finding) => ('format' in facts && facts.format === 'json' ? inJson(finding) : undefined),
    (_, { at }) => {
      const rest = at?.source.text.slice(at.start) ?? '';
      if (rest === '') return 'close every brace, bracket and quote that was opened';
      return /^\p{L}/u.test(rest)
        ? 'put texts in quotes'
        : 'look for a missing comma, colon, quote or bracket before it';
    },
  ],
};
