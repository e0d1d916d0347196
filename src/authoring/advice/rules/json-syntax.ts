/** Texts that JSON and JSON5 cannot read. */
import { isJsonText } from '../../../base/json.ts';
import { type Finding, say } from '../../../base/finding.ts';
import type { Facts } from '../facts.ts';
import { type AnyRule, hint, rule } from '../rule.ts';

/** Longer texts are not repeated; nor are those that may be secrets, whose keys stand elsewhere. */
const MAX_SHOWN = 300;

/** The text with its line ends and tabs as escapes. */
function escaped(written: string): string {
  const text = written.replaceAll(/\r?\n/g, String.raw`\n`).replaceAll('\t', String.raw`\t`);
  const isShown = written.includes('{{') && text.length <= MAX_SHOWN && !/[\p{Cc}]/u.test(text);
  return isShown ? `write the text in one line: ${text}` : String.raw`write it as an escape such as \n`;
}

interface Around {
  readonly before: string;
  /** From the place on. */
  readonly rest: string;
}

/** What the text around the place says; the first that knows it speaks. */
const AROUND: readonly (readonly [name: string, text: string, knows: (around: Around) => boolean])[] = [
  [
    'comment',
    'remove it, as all other comments of this file: JSON has none',
    ({ rest }) => rest.startsWith('/'),
  ],
  [
    'several-objects',
    'make one list of several objects: [ before the first, a comma between them, and ] behind the last',
    ({ before, rest }) => /^[[{]/.test(rest) && /^\s*\{[^]*\}$/.test(before) && isJsonText(before),
  ],
  ['single-quotes', 'write JSON strings in double quotes', ({ rest }) => rest.startsWith("'")],
];

function around({ at }: Finding): Around | undefined {
  return at && { before: at.source.text.slice(0, at.start).trimEnd(), rest: at.source.text.slice(at.start) };
}

function otherHint(rest: string): string {
  if (rest === '') return 'close every brace, bracket and quote that was opened';
  return /^\p{L}/u.test(rest)
    ? 'put texts in quotes'
    : 'look for a missing comma, colon, quote or bracket before it';
}

/** Where the text is JSON, which is stricter than JSON5. */
const inJson = (facts: Facts['JSON_SYNTAX'], finding: Finding): Around | undefined =>
  'format' in facts && facts.format === 'json' ? around(finding) : undefined;

export const JSON_SYNTAX: readonly AnyRule[] = [
  hint('JSON_SYNTAX', ['control-character', 'certain'], (facts) =>
    'text' in facts ? escaped(facts.text) : undefined,
  ),
  rule({
    on: 'JSON_SYNTAX',
    name: 'trailing-comma',
    confidence: 'certain',
    find: (facts, finding) => {
      const { before, rest } = inJson(facts, finding) ?? { before: '', rest: '' };
      return before.endsWith(',') && /^[}\]]/.test(rest) ? before.length - 1 : undefined;
    },
    say: () => say`remove the comma before it`,
    fix: (start, { at }) => at && { edit: { at: { ...at, start, end: start + 1 }, text: '' } },
  }),
  ...AROUND.map(([name, text, knows]) =>
    hint('JSON_SYNTAX', [name, 'certain'], (facts, finding) => {
      const json = inJson(facts, finding);
      return json && knows(json) ? text : undefined;
    }),
  ),
  hint('JSON_SYNTAX', ['other', 'guess'], (_, finding) => otherHint(around(finding)?.rest ?? '')),
];
