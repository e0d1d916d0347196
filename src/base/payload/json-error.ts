/**
 * Where and why a text is not JSON (RFC 8259). V8's own message quotes the text, which may not leave the request,
 * and often lacks the position; this scan runs only after `JSON.parse` has refused and names neither key nor value.
 */
export interface JsonError {
  /** The name of the field whose text it is in; the sender's own word. */
  readonly field?: string;
  readonly facts: JsonFacts;
}

/** What stands at the place where a text stops being JSON, and what was expected there. */
export interface JsonFacts {
  /** The sender's text. */
  readonly text: string;
  /** 0-based, in UTF-16 units. */
  readonly at: number;
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly expected: ExpectedToken;
  readonly in: 'value' | 'key' | 'after-value' | 'end' | 'colon' | 'text';
  /** Whether it closes the list or object that is open. */
  readonly closes: boolean;
  readonly isInList: boolean;
  /** Whether no list and no object is open. */
  readonly isRoot: boolean;
}

type State = 'value' | 'first-item' | 'first-key' | 'key' | 'colon' | 'after-value' | 'end';

/** What was expected, by the code that a stored decision has. */
export const EXPECTED = {
  value: 'a value',
  'first-item': 'a value or "]"',
  'first-key': 'a key in double quotes or "}"',
  key: 'a key in double quotes',
  colon: '":"',
  'after-value': '"," or the closing bracket',
  end: 'nothing after the value',
  'text-end': 'the end of a string',
  tab: 'no tab in a text',
  'line-break': 'no line break in a text',
  control: 'no raw control character in a string',
  escape: 'a valid escape',
} as const satisfies Readonly<Record<State, string>> & Readonly<Record<string, string>>;
type ExpectedToken = keyof typeof EXPECTED;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** Finds the first place where the text stops being JSON; undefined where it is valid. */
export function findJsonError(text: string): JsonError | undefined {
  const open: ('{' | '[')[] = [];
  let state: State = 'value';
  let field: string | undefined;
  let at = 0;
  for (;;) {
    at = skipSpace(text, at);
    const char = text[at];
    if (char === undefined && state === 'end') return undefined;
    const step = char === undefined ? undefined : takeToken(text, { at, char, state, open });
    if (step === undefined) return { facts: { ...factsOf(text, at, { state, open }), expected: state } };
    if (typeof step !== 'number') {
      const isOfField = state === 'value' && open.at(-1) === '{';
      return {
        ...(isOfField && field !== undefined ? { field } : {}),
        facts: { ...factsOf(text, step.offset, { state, open }), in: 'text', expected: step.expected },
      };
    }
    if (state === 'key' || state === 'first-key') field = text.slice(at + 1, step - 1);
    at = step;
    state = nextState(state, char as string, open);
  }
}

/** A comma before it makes a first key a further one. */
function factsOf(text: string, at: number, { state, open }: JsonScan): Omit<JsonFacts, 'expected'> {
  const isItem = state === 'value' && open.at(-1) === '[';
  const isFirst = state === 'first-key' || state === 'first-item';
  const where = state === 'first-key' ? 'key' : state === 'first-item' ? 'value' : state;
  return {
    text,
    at,
    ...lineAndColumn(text, at),
    in: where,
    isRoot: open.length === 0,
    closes: !isFirst && closes(text[at] ?? '', open),
    isInList: isItem,
  };
}

interface JsonFault {
  readonly offset: number;
  readonly expected: ExpectedToken;
}

interface JsonScan {
  readonly state: State;
  readonly open: readonly ('{' | '[')[];
}

/** Consumes one token that the state allows: its end, a finding inside a string, or undefined where none fits. */
function takeToken(
  text: string,
  { at, char, state, open }: { at: number; char: string; state: State; open: ('{' | '[')[] },
): number | JsonFault | undefined {
  if (state === 'end') return undefined;
  if (state === 'colon') return char === ':' ? at + 1 : undefined;
  if (state === 'after-value') {
    if (char === ',') return at + 1;
    return closes(char, open) ? at + 1 : undefined;
  }
  if ((state === 'first-item' || state === 'first-key') && closes(char, open)) return at + 1;
  if (char === '"') return stringEnd(text, at);
  if (state === 'key' || state === 'first-key') return undefined;
  if (char === '{' || char === '[') return at + 1;
  SCALAR.lastIndex = at;
  return SCALAR.test(text) ? SCALAR.lastIndex : undefined;
}

function nextState(state: State, char: string, open: ('{' | '[')[]): State {
  if (state === 'colon') return 'value';
  if (state === 'after-value' && char === ',') return open.at(-1) === '{' ? 'key' : 'value';
  if (char === '}' || char === ']') open.pop();
  else if (state === 'key' || state === 'first-key') return 'colon';
  else if (char === '{' || char === '[') {
    open.push(char);
    return char === '{' ? 'first-key' : 'first-item';
  }
  return open.length === 0 ? 'end' : 'after-value';
}

function closes(char: string, open: readonly ('{' | '[')[]): boolean {
  return char === (open.at(-1) === '{' ? '}' : open.at(-1) === '[' ? ']' : undefined);
}

/** What stands in a text as it is where a sender fills in a value. */
const RAW: Readonly<Record<number, ExpectedToken>> = { 9: 'tab', 10: 'line-break', 13: 'line-break' };

function stringEnd(text: string, start: number): number | JsonFault {
  let at = start + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    if (Number.isNaN(code)) return { offset: at, expected: 'text-end' };
    if (code === 0x22) return at + 1;
    if (code < 0x20) return { offset: at, expected: RAW[code] ?? 'control' };
    if (code !== 0x5c) {
      at += 1;
      continue;
    }
    ESCAPE.lastIndex = at;
    if (!ESCAPE.test(text)) return { offset: at, expected: 'escape' };
    at = ESCAPE.lastIndex;
  }
}

function skipSpace(text: string, start: number): number {
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at += 1;
  }
}

function lineAndColumn(text: string, offset: number): Pick<JsonFacts, 'line' | 'column'> {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return { line, column: offset - (offset === 0 ? 0 : lineStart) + 1 };
}
