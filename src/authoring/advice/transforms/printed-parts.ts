/**
 * Splits code in the one form in which esbuild prints it, by brackets and commas. Signs within a text or a
 * regular expression do not count.
 */

function* signsOf(code: string, from: number): Generator<readonly [at: number, sign: string]> {
  for (let at = from; at < code.length; at += 1) {
    const sign = code[at] ?? '';
    if ('"\'`'.includes(sign)) at = endOfText(code, at);
    else if (
      sign === '/' &&
      /[(,=:[!&|?{};>\n]\s*$|\breturn\s*$|^\s*$/.test(code.slice(Math.max(0, at - 20), at))
    )
      at = endOfPattern(code, at);
    else yield [at, sign];
  }
}

function endOfText(code: string, start: number): number {
  const quote = code[start];
  for (let at = start + 1; at < code.length; at += 1) {
    if (code[at] === '\\') at += 1;
    else if (code[at] === quote) return at;
    else if (quote === '`' && code.startsWith('${', at)) at = closingOf(code, at + 2);
  }
  return code.length;
}

function endOfPattern(code: string, start: number): number {
  let isClass = false;
  for (let at = start + 1; at < code.length && code[at] !== '\n'; at += 1) {
    if (code[at] === '\\') at += 1;
    else if (code[at] === '/' && !isClass) return at;
    else if (code[at] === '[') isClass = true;
    else if (code[at] === ']') isClass = false;
  }
  return start;
}

/** Returns where the bracket ends that was opened just before `start`. */
export const closingOf = (code: string, start: number): number => outsideOf(code, start, ')]}');

function outsideOf(code: string, start: number, signs: string): number {
  let depth = 0;
  for (const [at, sign] of signsOf(code, start)) {
    if (depth === 0 && signs.includes(sign)) return at;
    if ('([{'.includes(sign)) depth += 1;
    if (')]}'.includes(sign)) depth -= 1;
  }
  return code.length;
}

/** Splits a text at the commas that stand in no bracket. */
export function partsOf(text: string): readonly string[] {
  const parts: string[] = [];
  for (let from = 0; from < text.length;) {
    const end = outsideOf(text, from, ',');
    parts.push(text.slice(from, end).trim());
    from = end + 1;
  }
  return parts.filter((part) => part !== '');
}

/** The lines of a statement are indented, up to its last line. */
function nextStatement(code: string, from: number): number {
  for (const [at, sign] of signsOf(code, from))
    if (sign === '\n' && /[^\s}\])]/.test(code[at + 1] ?? '')) return at + 1;
  return code.length;
}

/** Returns the rest of the statement at the top level. */
export const bodyOf = (code: string, from: number): string =>
  code.slice(from, nextStatement(code, from)).trimEnd();
