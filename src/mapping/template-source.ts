/**
 * Template text before Handlebars reads it. OpenClaw writes `messages[0].from`, Handlebars `messages.[0].from`: the
 * missing dot is put in, inside expressions only, and every offset can be led back to the text as written.
 */
export interface TemplateSource {
  /** What Handlebars parses. */
  readonly text: string;
  /** Offset in the template as written of a 1-based line and 0-based column in `text`, as Handlebars counts them. */
  offsetAt(line: number, column: number): number;
  /** Offset in the template as written of an offset in `text`. */
  originalOffset(offset: number): number;
}

export function readTemplateSource(template: string): TemplateSource {
  const dots = findMissingDots(template);
  let text = '';
  let from = 0;
  for (const at of dots) {
    text += `${template.slice(from, at)}.`;
    from = at;
  }
  text += template.slice(from);
  const lineStarts = [0];
  for (const match of text.matchAll(/\r\n?|\n/g)) lineStarts.push(match.index + match[0].length);
  const originalOffset = (offset: number): number => {
    // The n-th dot stands at its place in the template plus the n dots before it.
    const before = dots.filter((at, index) => at + index < offset).length;
    return Math.min(Math.max(offset - before, 0), template.length);
  };
  return {
    text,
    originalOffset,
    offsetAt: (line, column) => originalOffset((lineStarts[line - 1] ?? text.length) + column),
  };
}

/** Offsets of brackets that follow a name or another bracket directly; comments and quoted texts are left alone. */
function findMissingDots(template: string): readonly number[] {
  const dots: number[] = [];
  let at = template.indexOf('{{');
  while (at !== -1) {
    const comment = /^\{\{~?!(--)?/.exec(template.slice(at, at + 6));
    const escaped = template[at - 1] === '\\' && template[at - 2] !== '\\';
    if (comment !== null) at = skipPast(template, comment[1] === undefined ? '}}' : '--', at);
    else at = escaped ? at + 2 : scanExpression(template, at + 2, dots);
    at = template.indexOf('{{', at);
  }
  return dots;
}

/** Returns the offset after the expression that starts at `from`. */
function scanExpression(template: string, from: number, dots: number[]): number {
  let at = from;
  while (at < template.length && !template.startsWith('}}', at)) {
    const character = template[at];
    if (character === '"' || character === "'") at = skipPast(template, character, at + 1);
    else if (character === '[') {
      const close = template.indexOf(']', at);
      if (close === -1) return template.length;
      const inside = template.slice(at + 1, close);
      if (/[\w$\]-]/.test(template[at - 1] ?? '') && !/["'\n]/.test(inside)) dots.push(at);
      at = close + 1;
    } else at += 1;
  }
  return at;
}

function skipPast(template: string, end: string, from: number): number {
  const found = template.indexOf(end, from);
  return found === -1 ? template.length : found + end.length;
}
