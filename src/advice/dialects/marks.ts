import { quoted, say } from '../../finding.ts';
import type { Place, TextEdit } from '../../document/document.ts';
import type { Found } from '../rule.ts';

/** What marks an expression in other tools, and is sent as text here. */
interface Mark {
  /** Its first group is the path, where it is a path alone. */
  readonly pattern: RegExp;
  readonly tool: string;
  readonly hint: (path: string) => string;
  /** What to write in its place; absent where only a person can tell. */
  readonly text?: (path: string) => string;
  /** Only in a text that has no expression of ours. */
  readonly isAlone?: boolean;
}

const asPath = (path: string): string => `{{${path}}}`;
const asExpression = (path: string): string => `write ${asPath(path)}`;

const MARKS: readonly Mark[] = [
  {
    pattern: /^=(?=\{\{)/g,
    tool: 'n8n',
    hint: () => 'remove the "=", and keep the whole value in quotes',
    text: () => '',
  },
  {
    pattern: /\{%-?\s*(?:if|elif|elsif|else|endif|for|endfor|unless|set|assign|case)\b[^%]*%\}/g,
    tool: 'Jinja and Liquid',
    hint: () => 'write {{#if name}}…{{else}}…{{/if}}, or {{#each list}}…{{/each}}',
  },
  {
    pattern: /(?<!\\)\$\{([a-z_][\w-]*(?:\.[\w-]+)*)\}/g,
    tool: 'JavaScript',
    hint: asExpression,
    text: asPath,
  },
  {
    pattern: /\{\{\d+__([\w .-]+)\}\}/g,
    tool: 'Zapier',
    hint: (path) => asExpression(path.replaceAll('__', '.')),
  },
  {
    pattern: /(?<![{$\\%#])\{([A-Za-z_]\w*(?:\.\w+)+|[a-z_][a-z0-9_]*)\}(?!\})/g,
    tool: 'Python and Make',
    hint: asExpression,
    text: asPath,
    isAlone: true,
  },
  { pattern: /<%[=-]\s*([\w.-]+)\s*-?%>/g, tool: 'ERB and EJS', hint: asExpression, text: asPath },
];

/** Further ones of a kind that are told. */
const MAX_MORE = 5;

/** Expressions in the marks of other tools: the first of each kind. */
export function findForeignMarks(
  source: string,
  placeOf: (start: number, end: number) => Place,
): readonly Found[] {
  return MARKS.flatMap((mark) => {
    const matches = mark.isAlone === true && source.includes('{{') ? [] : [...source.matchAll(mark.pattern)];
    const [match, ...more] = matches;
    if (match === undefined) return [];
    const found = describeMark(mark, match, placeOf(match.index, match.index + match[0].length));
    const others = [...new Set(more.map(([, group = '']) => group.replace(/^body\./, '')))].slice(
      0,
      MAX_MORE,
    );
    const { text } = mark;
    const isListed = text !== undefined && mark.hint === asExpression && others.length > 0;
    return [
      isListed
        ? {
            ...found,
            hint: quoted(
              [mark.hint(match[1]?.replace(/^body\./, '') ?? ''), ...others.map(text)].join(' and '),
            ),
          }
        : found,
    ];
  });
}

function describeMark({ tool, hint, text }: Mark, [written, group = '']: RegExpExecArray, at: Place): Found {
  const path = group.replace(/^body\./, '');
  const edit = text === undefined ? undefined : editOf(at, written, text(path));
  return {
    message: say`${JSON.stringify(written.slice(0, 80))} marks an expression in ${tool}; here it is sent as text`,
    at,
    hint: quoted(hint(path)),
    ...(edit === undefined ? {} : { edit }),
  };
}

/** Without quotes, what begins with {{ would be a map in YAML; with an escape, the text does not stand there as it is. */
function editOf(at: Place, written: string, text: string): TextEdit | undefined {
  const { source, start, end } = at;
  const isPlain = /:\s*$/.test(source.text.slice(source.text.lastIndexOf('\n', start - 1) + 1, start));
  return isPlain || source.text.slice(start, end) !== written ? undefined : { at, text };
}
