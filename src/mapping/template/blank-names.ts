/** Names with blanks in them, at which Handlebars ends a name: `fields.Due Date` is `fields.[Due Date]`. */
import { say, type Sentence } from '../../finding.ts';
import type { Place, TextEdit } from '../../document/document.ts';

type Locate = (loc: hbs.AST.SourceLocation) => { readonly text: string; readonly at: Place };

interface BlankName {
  readonly hint: Sentence;
  readonly editAt: () => TextEdit | undefined;
}

/** One name out of what was read as several; undefined where a part is no plain word. */
export function blankName(locate: Locate, parts: readonly hbs.AST.Node[]): BlankName | undefined {
  const [first, ...others] = parts.map(({ loc }) => locate(loc));
  const last = others.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const name = joined([first, ...others]);
  return name === undefined
    ? undefined
    : {
        hint: say`a name with a blank in it is written in brackets: ${name}`,
        editAt: () => ({ at: { ...first.at, end: last.at.end }, text: name }),
      };
}

/** The same among the arguments of a call that has more than `max`: those that follow each other are one name. */
export function blankArgument(
  locate: Locate,
  params: readonly hbs.AST.Expression[],
  max: number,
): BlankName | undefined {
  for (let length = params.length - max + 1; length > 1; length -= 1) {
    const runs = params.map((_, from) => params.slice(from, from + length));
    const run = runs.find(
      (parts) => parts.length === length && parts.every(({ type }) => type === 'PathExpression'),
    );
    if (run !== undefined) return blankName(locate, run);
  }
  return undefined;
}

/** Dots after the blank go on with the path: `a.Due Date.start` is `a.[Due Date].start`. */
function joined(parts: readonly { readonly text: string }[]): string | undefined {
  const words = parts.map(({ text }) => text.trim());
  const [, before = '', start] = /^((?:[\w@-]+\.|\.\.\/)*)([\w-]+)$/.exec(words[0] ?? '') ?? [];
  const [, end, behind = ''] = /^([\w-]+)((?:\.[\w-]+)*)$/.exec(words.at(-1) ?? '') ?? [];
  const between = words.slice(1, -1);
  const isPlain = [...between, end].every(
    (word) => word !== undefined && /^(?!(?:as|in)$)[\w-]+$/.test(word),
  );
  if (start === undefined || end === undefined || !isPlain) return undefined;
  return `${before}[${[start, ...between, end].join(' ')}]${behind}`;
}
