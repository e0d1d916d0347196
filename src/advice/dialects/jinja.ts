/** Templates of Jinja and Liquid (Home Assistant, Shopify, Python) in the words of this language. */
import {
  asArgument,
  call,
  filtered,
  noCounterpart,
  readExpression,
  type Reading,
  type Written,
} from './calls.ts';
import type { ForeignScope } from './scope.ts';

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d+(?:\.\d+)?|[A-Za-z_][\w-]*|==|!=|[().,|:[\]])/y;

/** One expression, without its marks: what to write in its place. Throws noCounterpart where there is nothing. */
export function jinjaTag(kind: '{{' | '{%' | '{#', inside: string, scope: ForeignScope): string {
  const text = inside.trim();
  if (kind === '{#') return `{{!-- ${text} --}}`;
  return kind === '{{' ? printed(expression(text, scope)) : statement(text, scope);
}

function statement(text: string, scope: ForeignScope): string {
  const [, word = '', rest = ''] = /^(\w+)(?:\s+([^]*))?$/.exec(text) ?? [];
  if (['endif', 'endfor', 'endunless'].includes(word)) return scope.close() ?? noCounterpart(word);
  if (word === 'else') return '{{else}}';
  if (word === 'elif' || word === 'elsif') return `{{else if ${argument(rest, scope)}}}`;
  if (word === 'if' || word === 'unless') {
    const condition = argument(rest, scope);
    scope.open(`{{/${word}}}`);
    return `{{#${word} ${condition}}}`;
  }
  if (word === 'for') return loop(rest, scope);
  const [, name, set] = /^(\w+)\s*=\s*([\w.]+)$/.exec(rest) ?? [];
  if ((word !== 'set' && word !== 'assign') || name === undefined || set === undefined)
    return noCounterpart(word);
  if (scope.has(set.split('.')[0] ?? '')) return noCounterpart(word);
  scope.name(name, keysOf(set.split('.')));
  return '';
}

function loop(rest: string, scope: ForeignScope): string {
  const [, key, item, list] =
    /^(?:(\w+)\s*,\s*)?(\w+)\s+in\s+([\w.[\]]+?)(?:\.items\(\))?$/.exec(rest.trim()) ?? [];
  if (item === undefined || list === undefined) return noCounterpart('for');
  const path = argument(list, scope);
  scope.open('{{/each}}', 1);
  scope.name(item, []);
  if (key !== undefined) scope.name(key, '@key');
  scope.name('loop.index0', '@index');
  scope.name('forloop.index0', '@index');
  return `{{#each ${path}}}`;
}

function printed({ text }: Written): string {
  return `{{${text}}}`;
}

function argument(text: string, scope: ForeignScope): string {
  return asArgument(expression(text, scope));
}

function expression(text: string, scope: ForeignScope): Written {
  return readExpression(text, { token: TOKEN, scope, read: either });
}

function take(reading: Reading, ...words: readonly string[]): string | undefined {
  const token = reading.tokens[reading.at];
  if (token === undefined || !words.includes(token)) return undefined;
  reading.at += 1;
  return token;
}

function either(reading: Reading): Written {
  const parts = [both(reading)];
  while (take(reading, 'or') !== undefined) parts.push(both(reading));
  return parts.length === 1 ? (parts[0] ?? noCounterpart('or')) : call('or', parts);
}

function both(reading: Reading): Written {
  const parts = [compared(reading)];
  while (take(reading, 'and') !== undefined) parts.push(compared(reading));
  return parts.length === 1 ? (parts[0] ?? noCounterpart('and')) : call('and', parts);
}

function compared(reading: Reading): Written {
  if (take(reading, 'not') !== undefined) return call('not', [compared(reading)]);
  const left = withFilters(reading);
  if (take(reading, 'is') !== undefined) {
    const isNot = take(reading, 'not') !== undefined;
    if (take(reading, 'defined') === undefined) return noCounterpart('is');
    return isNot ? call('not', [left]) : left;
  }
  const sign = take(reading, '==', '!=');
  return sign === undefined ? left : call(sign === '==' ? 'eq' : 'ne', [left, withFilters(reading)]);
}

/** Arguments of a filter stand in parentheses (Jinja) or behind a colon (Liquid). */
function withFilters(reading: Reading): Written {
  let value = primary(reading);
  while (take(reading, '|') !== undefined) {
    const name = reading.tokens[reading.at] ?? '';
    reading.at += 1;
    const open = take(reading, '(', ':');
    const args = open === undefined ? [] : listOf(reading);
    if (open === '(' && take(reading, ')') === undefined) return noCounterpart(name);
    value = filtered(name, value, args);
  }
  return value;
}

function listOf(reading: Reading): readonly Written[] {
  const args: Written[] = [];
  while (reading.at < reading.tokens.length && reading.tokens[reading.at] !== ')') {
    args.push(primary(reading));
    if (take(reading, ',') === undefined) break;
  }
  return args;
}

function primary(reading: Reading): Written {
  const token = reading.tokens[reading.at] ?? '';
  reading.at += 1;
  if (/^["'\d-]/.test(token)) return { text: token };
  if (token === '(') {
    const inner = either(reading);
    return take(reading, ')') === undefined ? noCounterpart('(') : inner;
  }
  if (!/^[A-Za-z_]/.test(token)) return noCounterpart(token);
  if (['true', 'false'].includes(token.toLowerCase())) return { text: token.toLowerCase() };
  return { text: path(token, reading) };
}

function path(first: string, reading: Reading): string {
  const keys = [first];
  for (let sign = take(reading, '.', '['); sign !== undefined; sign = take(reading, '.', '[')) {
    const key = reading.tokens[reading.at] ?? '';
    reading.at += 1;
    if (sign === '[' && take(reading, ']') === undefined) return noCounterpart('[');
    if (sign === '[' && !/^["'\d]/.test(key)) return noCounterpart('[');
    keys.push(key.replaceAll(/^["']|["']$/g, ''));
  }
  const { scope } = reading;
  const whole = keys.join('.');
  if (scope.has(whole)) return scope.variable(whole, []) ?? noCounterpart(whole);
  const [name = '', ...below] = keys;
  return scope.has(name) ? (scope.variable(name, below) ?? noCounterpart(whole)) : scope.root(keysOf(keys));
}

/** Home Assistant has the body of a webhook in `trigger.json`. */
function keysOf(keys: readonly string[]): readonly string[] {
  return keys[0] === 'trigger' && ['json', 'data'].includes(keys[1] ?? '') ? keys.slice(2) : keys;
}
