/** Templates in the language of another tool: how its expressions are known, and how the same is written here. */
import { quoted, say, type TextEdit } from '../../../base/finding.ts';
import type { Place } from '../../../base/document/document.ts';
import type { TemplateSubject } from '../../../engine/mapping/facts.ts';
import type { Found } from '../rule.ts';

/** What marks an expression in other tools, and is sent as text here. */
interface Mark {
  /** Its first group is the path, where it is a path alone. */
  readonly pattern: RegExp;
  readonly tool: string;
  /** What to write, where that is not the path in braces. */
  readonly hint?: string;
  /** What stands in its place then. */
  readonly text?: string;
  /** Only in a text that has no expression of ours. */
  readonly isAlone?: boolean;
}

const MARKS: readonly Mark[] = [
  {
    pattern: /^=(?=\{\{)/g,
    tool: 'n8n',
    hint: 'remove the "=", and keep the whole value in quotes',
    text: '',
  },
  { pattern: /(?<!\\)\$\{([a-z_][\w-]*(?:\.[\w-]+)*)\}/g, tool: 'JavaScript' },
  {
    pattern: /(?<![{$\\%#])\{([A-Za-z_]\w*(?:\.\w+)+|[a-z_][a-z0-9_]*)\}(?!\})/g,
    tool: 'Python and Make',
    isAlone: true,
  },
  { pattern: /<%[=-]\s*([\w.-]+)\s*-?%>/g, tool: 'ERB and EJS' },
];

/** Further ones of a kind that are told. */
const MAX_MORE = 5;

/** Expressions in the marks of other tools: the first of each kind. */
export function findMarks(source: string, placeOf: (start: number, end: number) => Place): readonly Found[] {
  return MARKS.flatMap((mark) => {
    const matches = mark.isAlone === true && source.includes('{{') ? [] : [...source.matchAll(mark.pattern)];
    const [match] = matches;
    if (match === undefined) return [];
    const [written] = match;
    const at = placeOf(match.index, match.index + written.length);
    const texts = [...new Set(matches.map(([, path = '']) => `{{${path.replace(/^body\./, '')}}}`))];
    const edit = editOf(at, written, mark.text ?? texts[0] ?? '');
    return [
      {
        message: say`${JSON.stringify(written.slice(0, 80))} marks an expression in ${mark.tool}; here it is sent as text`,
        at,
        hint: quoted(mark.hint ?? `write ${texts.slice(0, MAX_MORE + 1).join(' and ')}`),
        ...(edit && { edit }),
      },
    ];
  });
}

/** Without quotes, what begins with {{ would be a map in YAML; with an escape, the text does not stand there as it is. */
function editOf(at: Place, written: string, text: string): TextEdit | undefined {
  const { source, start, end } = at;
  const isPlain = /:\s*$/.test(source.text.slice(source.text.lastIndexOf('\n', start - 1) + 1, start));
  return isPlain || source.text.slice(start, end) !== written ? undefined : { at, text };
}

/** Languages with blocks or roots of their own, by the first of their expressions, and what to write for them. */
const LANGUAGES: readonly (readonly [tool: string, expression: RegExp, write: string])[] = [
  [
    'Jinja or Liquid',
    /\{%-?\s*(?:if|unless|for|set|assign|elif|elsif|else|case|end\w+)\b[^%]*%\}/,
    'test with {{#if name}}…{{else}}…{{/if}}, {{#if (eq name "text")}} to compare, {{#each list}}{{title}}{{/each}} to repeat, and a filter as a helper before its value: {{upper title}}',
  ],
  [
    'Go',
    /\{\{-?\s*(?:end\s*-?|(?:range|with|if|else if|len|index)\b[^{}]*[\s(][.$][^{}]*|(?:printf|template|define)\s+"[^{}]*|\$\w+\s*:=[^{}]*)\}\}/,
    'write the names of the JSON that the sender sends, without a dot before them and mostly with a small first letter: {{status}}, {{#each alerts}}{{labels.instance}}{{/each}}, {{#if (eq status "firing")}}…{{/if}}',
  ],
  [
    'n8n',
    /\{\{\s*\$(?:json\b|node\[|\()[^{}]*\}\}/,
    'write the path in the body alone: {{title}} for $json.body.title',
  ],
];

/** A template that cannot be used as it is, or has statements that are sent as text: one finding for all of it. */
export function findLanguage({
  source,
  findings,
  isUsable,
  placeOf,
}: Pick<TemplateSubject, 'source' | 'findings' | 'isUsable' | 'placeOf'>): Found | undefined {
  if (findings.length === 0 && !source.includes('{%')) return undefined;
  for (const [tool, expression, write] of LANGUAGES) {
    const match = expression.exec(source);
    if (match === null) continue;
    return {
      // Text between the marks of Jinja may be meant as text.
      severity: isUsable ? 'warning' : 'error',
      message: say`this is a template of ${tool}; templates here are Handlebars`,
      at: placeOf(match.index, match.index + match[0].length),
      hint: quoted(write),
    };
  }
  return undefined;
}
