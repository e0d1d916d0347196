/** A hint, taken apart for printing. */
export interface HintParts {
  /** What to do with the line, and where: `write in verify of the mapping`; the whole of it where there is no line. */
  readonly verb: string;
  /** What is to be pasted as it stands; absent where the hint is no such thing. */
  readonly line?: string;
  /** Why; it may be empty. */
  readonly why: string;
}

const VERB = /\b(write|replace the whole verify(?: of the mapping)? by:?|challenge is answered by) /gi;
/** What for: it stands before the verb. */
const PURPOSE = /^(?:(.*)[:;.,] )?((?:to|for|if|where) [^:;]*?),?$/is;
const PLACE = /^ (?:in|at|below|beside|into|of) [^,;.]*(?:\.[a-z]+[^,;.]*)*(?:, beside match)?/i;
/** A sentence without a line to paste: what was found, and what to do. */
const TO_DO =
  /^(.*?)[:;] ((?:let|send|set|compare|remove|give|use|add|move|read|take|correct|write|name|replace|change) .*)$/s;

/** Takes a sentence apart that says what to write: a rule, an expression of a template, or a key with its value. */
export function hintParts(text: string): HintParts {
  for (const match of text.matchAll(VERB)) {
    const from = match.index + match[0].length;
    const end = endOfLine(text, from);
    if (end === undefined) continue;
    const before = text
      .slice(0, match.index)
      .trim()
      .replace(/(?:: did you mean that\?|[:,;])$/, '');
    const [, fact = '', purpose] = PURPOSE.exec(before) ?? [undefined, before];
    const [place = ''] = PLACE.exec(text.slice(end)) ?? [];
    const rest = text.slice(end + place.length).replace(/^[\s,;.:]+/, '');
    return {
      verb: `${(match[1] ?? '').toLowerCase().replace(/:$/, '')}${place}${purpose === undefined ? '' : `, ${purpose.replace(/^[A-Z]/, (letter) => letter.toLowerCase())}`}`,
      line: text.slice(from, end),
      why: [fact, rest].filter((part) => part !== '').join('; '),
    };
  }
  const [, found = '', todo = text] = TO_DO.exec(text) ?? [];
  return { verb: todo, why: found };
}

/** Where what is to be written ends: a rule and a value at their close, a word before the next sign. */
function endOfLine(text: string, from: number): number | undefined {
  const [key = ''] = /^[a-z][\w.]*: /i.exec(text.slice(from)) ?? [];
  const at = from + key.length;
  const first = text.charAt(at);
  if (first === '{' || (key !== '' && first === '[')) return closeOf(text, at);
  if (key === '') return undefined;
  if (first === "'" || first === '"') {
    const close = text.indexOf(first, at + 1);
    return close === -1 ? undefined : close + 1;
  }
  const [word = ''] = /^[^\s,;()]+/.exec(text.slice(at)) ?? [];
  return word === '' ? undefined : at + word.replace(/[.:]$/, '').length;
}

/** Where a brace or bracket is closed; undefined where the text was cut before that. */
export function closeOf(text: string, open: number): number | undefined {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}
