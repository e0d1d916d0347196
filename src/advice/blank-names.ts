/* Names with blanks in them, at which Handlebars ends a name: `fields.Due Date` is `fields.[Due Date]`. */
import type { TextEdit } from '../finding.ts';
import type { TemplateArgument, TemplateCall } from '../mapping/facts.ts';

type Part = Pick<TemplateArgument, 'text' | 'at'>;

/** One name out of what was read as several; undefined where a part is no plain word. */
export function blankName(parts: readonly Part[]): TextEdit | undefined {
  const [first, ...others] = parts;
  const last = others.at(-1);
  const name = last === undefined ? undefined : joined(parts);
  if (first === undefined || last === undefined || name === undefined) return undefined;
  return { at: { ...first.at, end: last.at.end }, text: name };
}

/** The same among the arguments of a call that has more than `max`: those that follow each other are one name. */
export function blankArgument(args: TemplateCall['args'], max: number): TextEdit | undefined {
  for (let length = args.length - max + 1; length > 1; length -= 1) {
    const run = args
      .map((_, from) => args.slice(from, from + length))
      .find((parts) => parts.length === length && parts.every(({ kind }) => kind === 'path'));
    if (run !== undefined) return blankName(run);
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
