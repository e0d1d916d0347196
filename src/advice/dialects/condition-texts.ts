/**
 * Conditions as JavaScript, GitHub Actions and SQL write them, in JsonLogic: `action == "opened" || draft`.
 * A recursive descent over the tokens of the text, O(n); what it does not know for certain is no rule.
 */
import { comparesSecret } from '../../mapping/facts.ts';
import { MIRRORED, printRule } from '../rule-parts.ts';
import { compare, joined, type FieldRule as Rule } from './field-rules.ts';
import { rootHere, withDots, withoutRoot } from './paths.ts';

/** What to write in place of a condition that compares a secret. */
export const SECRET_HINT =
  'let verify compare it, and no condition: scheme header with the header that carries it, or scheme token for Authorization: Bearer';

/** The rule that a text means, as JSON; undefined where it is none. */
export function ruleOfText(text: string): string | undefined {
  if (text.length > MAX_CHARS || comparesSecret(text)) return undefined;
  const tokens = tokenize(text.trim().replaceAll(/^=|\$?\{\{(?:#if\s)?|\}\}/g, ' '));
  if (tokens === undefined) return undefined;
  const rule = readWhole(tokens);
  return rule === undefined || 'var' in rule ? undefined : printRule(rule);
}

/** The rule that all tokens make. */
function readWhole(tokens: readonly Token[]): Rule | undefined {
  const state: State = { tokens, at: 0 };
  const rule = readOr(state);
  return state.at < tokens.length ? undefined : rule;
}

const MAX_CHARS = 500;

interface Token {
  readonly kind: 'sign' | 'text' | 'number' | 'word';
  readonly text: string;
}

interface State {
  readonly tokens: readonly Token[];
  at: number;
}

/** A constant, a list of them, or a path. */
type Operand =
  { readonly kind: 'constant'; readonly value: unknown } | { readonly kind: 'path'; readonly path: string };

const TOKEN =
  /\s*(?:(===?|!==?|[<>]=?|<>|&&|\|\||[!=()[\],])|"([^"\\]*)"|'([^'\\]*)'|(-?\d+(?:\.\d+)?)(?![\w.-])|([\w$@.](?:[\w$@./-]|\?\.|\[(?:\d+|"[\w-]+"|'[\w-]+')\])*))/y;

function tokenize(text: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const [, sign, double, single, number, word] = TOKEN.exec(text) ?? [];
    const quoted = double ?? single;
    if (sign !== undefined) tokens.push({ kind: 'sign', text: sign });
    else if (quoted !== undefined) tokens.push({ kind: 'text', text: quoted });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else return undefined;
  }
  return tokens;
}

/** Takes the next token where it is one of the texts, of a sign or word. */
function take(state: State, ...texts: readonly string[]): string | undefined {
  const next = state.tokens[state.at];
  if (next === undefined || (next.kind !== 'sign' && next.kind !== 'word')) return undefined;
  const text = next.text.toLowerCase();
  if (!texts.includes(text)) return undefined;
  state.at += 1;
  return text;
}

function readOr(state: State): Rule | undefined {
  const rules = readSeries(state, readAnd, ['||', 'or']);
  return rules === undefined ? undefined : (oneOf(rules) ?? joined('or', rules));
}

function readAnd(state: State): Rule | undefined {
  const rules = readSeries(state, readNot, ['&&', 'and']);
  return rules === undefined ? undefined : joined('and', rules);
}

function readSeries(
  state: State,
  read: (state: State) => Rule | undefined,
  between: readonly string[],
): readonly Rule[] | undefined {
  const rules: Rule[] = [];
  do {
    const rule = read(state);
    if (rule === undefined) return undefined;
    rules.push(rule);
  } while (take(state, ...between) !== undefined);
  return rules;
}

/** `a == 1 || a == 2` is one question. */
function oneOf(rules: readonly Rule[]): Rule | undefined {
  const parts = rules.map((rule) => (rule['==='] ?? []) as readonly unknown[]);
  const [first] = parts;
  const name = JSON.stringify(first?.[0]);
  if (rules.length < 2 || parts.some((part) => part.length === 0 || JSON.stringify(part[0]) !== name))
    return undefined;
  return { in: [first?.[0], parts.map((part) => part[1])] };
}

function readNot(state: State): Rule | undefined {
  const sign = take(state, '!', 'not');
  if (sign === undefined) return readComparison(state);
  const from = state.at;
  const rule = readNot(state);
  const read = state.tokens.slice(from, state.at);
  // `!a == b` asks JavaScript whether the negation of a is b.
  const isUnclear = sign === '!' && read[0]?.text !== '(' && read.some(isComparing);
  return rule === undefined || isUnclear ? undefined : { '!': rule };
}

const isComparing = ({ kind, text }: Token): boolean => kind !== 'text' && COMPARES.has(text);

/** Signs and words of comparisons. */
const COMPARING = ['===', '==', '=', 'is', '!==', '!=', '<>', '>=', '<=', '>', '<'];
const CONTAINING = ['in', 'contains', 'includes'];
const COMPARES: ReadonlySet<string> = new Set([...COMPARING, ...CONTAINING]);

function readComparison(state: State): Rule | undefined {
  if (take(state, '(') !== undefined) {
    const rule = readOr(state);
    return take(state, ')') === undefined ? undefined : rule;
  }
  const left = readOperand(state);
  if (left === undefined) return undefined;
  if (take(state, '(') !== undefined) return readCall(state, left);
  return readSign(state, left);
}

/** What follows an operand: a sign or a word with the other one, or nothing. */
function readSign(state: State, left: Operand): Rule | undefined {
  const not = take(state, 'not');
  const word = take(state, ...CONTAINING);
  const sign = word ?? take(state, ...COMPARING);
  if (sign === undefined) return left.kind === 'path' && not === undefined ? { var: left.path } : undefined;
  const right = readOperand(state);
  if (right === undefined || take(state, '(') !== undefined) return undefined;
  if (word !== undefined) {
    const isUnclear = word === 'in' && left.kind === 'path' && right.kind === 'path';
    const rule = isUnclear ? undefined : word === 'in' ? isIn(left, right) : isIn(right, left);
    return rule === undefined || not === undefined ? rule : { '!': rule };
  }
  return not === undefined ? compared(left, sign, right) : undefined;
}

function compared(left: Operand, operator: string, right: Operand): Rule | undefined {
  if (left.kind === 'constant')
    return right.kind === 'path' ? compared(right, MIRRORED[operator] ?? operator, left) : undefined;
  // A bare word on the right is a text where it is no path: `action == opened`, and not `head.repo == base.repo`.
  if (right.kind === 'path' && isDeep(right)) return undefined;
  return compare(operator, left.path, valueOf(right));
}

const valueOf = (operand: Operand): unknown => (operand.kind === 'constant' ? operand.value : operand.path);

const isDeep = (operand: Operand): boolean => operand.kind === 'path' && operand.path.includes('.');

/** A bare word beside a path is a text, as above. */
function isIn(needle: Operand, hay: Operand): Rule | undefined {
  if (hay.kind === 'constant')
    return needle.kind === 'path' ? compare('in', needle.path, hay.value) : undefined;
  return isDeep(needle) ? undefined : compare('contains', hay.path, valueOf(needle));
}

/** `path.includes(x)`, `startsWith(path, x)` and their like; the opening parenthesis is taken. */
function readCall(state: State, called: Operand): Rule | undefined {
  const [, on = '', method = ''] =
    called.kind === 'path' ? (/^(?:(.*)\.)?(\w+)$/.exec(called.path) ?? []) : [];
  const subject: Operand | undefined = on === '' ? readOperand(state) : { kind: 'path', path: on };
  if (on === '' && take(state, ',') === undefined) return undefined;
  const value = readOperand(state);
  if (subject === undefined || value === undefined || take(state, ')') === undefined) return undefined;
  if (/^(?:includes|contains)$/i.test(method)) return isIn(value, subject);
  return subject.kind === 'path' && value.kind === 'constant' && /^(?:starts|ends)with$/i.test(method)
    ? compare(method, subject.path, value.value)
    : undefined;
}

function readOperand(state: State): Operand | undefined {
  const list = take(state, '[', '(');
  if (list !== undefined) return readList(state, list === '[' ? ']' : ')');
  const next = state.tokens[state.at];
  if (next === undefined || next.kind === 'sign') return undefined;
  state.at += 1;
  if (next.kind === 'text') return { kind: 'constant', value: next.text };
  if (next.kind === 'number') return numberOperand(next.text);
  if (Object.hasOwn(WORDS, next.text.toLowerCase()))
    return { kind: 'constant', value: WORDS[next.text.toLowerCase()] };
  const path = withDots(next.text.replaceAll('?.', '.'));
  // A length is no field, and github.ref is no field of that name.
  return /\.length$|^\d|\.\.|\.$|^github\.(?!event\.)/.test(path)
    ? undefined
    : { kind: 'path', path: rootHere(withoutRoot(path)) };
}

/** A number that is printed again as it is written: an id of many digits, or 007, would become another. */
function numberOperand(text: string): Operand | undefined {
  const value = Number(text);
  const plain = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return String(value) === plain ? { kind: 'constant', value } : undefined;
}

const WORDS: Readonly<Record<string, unknown>> = {
  true: true,
  false: false,
  null: null,
  nil: null,
  undefined: null,
  none: null,
};

function readList(state: State, end: string): Operand | undefined {
  const values: unknown[] = [];
  do {
    const value = readOperand(state);
    if (value === undefined) return undefined;
    values.push(value.kind === 'constant' ? value.value : value.path);
  } while (take(state, ',') !== undefined);
  return take(state, end) === undefined ? undefined : { kind: 'constant', value: values };
}
