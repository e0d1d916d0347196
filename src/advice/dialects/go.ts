/** Templates of Go (Alertmanager, Grafana, GitHub's and GitLab's tools) in the words of this language. */
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

const TOKEN =
  /\s*("(?:[^"\\]|\\.)*"|`[^`]*`|-?\d+(?:\.\d+)?|\$\w*(?:\.\w+)*|\.(?:\w+(?:\.\w+)*)?|[A-Za-z_]\w*|[()|,]|:=|=)/y;

/** One expression, without its braces: what to write in its place. Throws noCounterpart where there is nothing. */
export function goTag(inside: string, scope: ForeignScope): string {
  const text = inside.trim();
  const [, word = '', rest = ''] = /^(\w+)(?:\s+([^]*))?$/.exec(text) ?? [];
  const comment = /^\/\*([^]*)\*\/$/.exec(text)?.[1];
  if (comment !== undefined) return `{{!--${comment}--}}`;
  if (word === 'end') return scope.close() ?? noCounterpart('end');
  if (word === 'else' && rest !== '')
    return rest.startsWith('if ') ? `{{else if ${condition(rest.slice(3), scope)}}}` : noCounterpart(rest);
  if (word === 'else') return '{{else}}';
  if (word === 'if') return opened(scope, 'if', condition(rest, scope));
  if (word === 'range' || word === 'with') return block(word, rest, scope);
  const [, name, set] = /^\$(\w+)\s*:?=\s*([^]+)$/.exec(text) ?? [];
  if (name !== undefined && set !== undefined) return assign(name, set, scope);
  if (['define', 'template', 'block', 'break', 'continue'].includes(word)) return noCounterpart(word);
  return printed(expression(text, scope));
}

function opened(scope: ForeignScope, name: string, argument: string): string {
  scope.open(`{{/${name}}}`);
  return `{{#${name} ${argument}}}`;
}

function block(word: 'range' | 'with', rest: string, scope: ForeignScope): string {
  const [, first, second, list = rest] = /^\$(\w+)(?:\s*,\s*\$(\w+))?\s*:=\s*([^]+)$/.exec(rest) ?? [];
  const path = list.trim();
  const [, before, part] = /^([.$\w]*?)\.(Firing|Resolved|SortedPairs)$/.exec(path) ?? [];
  const isOfMap = part === 'SortedPairs';
  // A list is no element, and a pair has no name of its own here.
  if (part !== undefined && (isOfMap ? first !== undefined : word === 'with')) return noCounterpart(path);
  const helper = word === 'range' ? 'each' : 'with';
  const argument = value(part === undefined ? path : before === '' ? '.' : (before ?? ''), scope);
  const status = part === undefined || isOfMap ? undefined : part.toLowerCase();
  const names = isOfMap ? { name: '@key', value: 'this' } : {};
  scope.open(`${status === undefined ? '' : '{{/if}}'}{{/${helper}}}`, 1, names);
  if (first !== undefined) scope.name(second ?? first, []);
  const isMap = MAPS.test(argument.slice(argument.lastIndexOf('.') + 1));
  if (first !== undefined && second !== undefined) scope.name(first, isMap ? '@key' : '@index');
  return `{{#${helper} ${argument}}}${status === undefined ? '' : `{{#if (eq status "${status}")}}`}`;
}

/** A variable is written as what it stands for. */
function assign(name: string, set: string, scope: ForeignScope): string {
  const [, keys] = /^(\.\w+(?:\.\w+)*)$/.exec(set.trim()) ?? [];
  if (keys === undefined) return noCounterpart(`$${name}`);
  scope.name(name, jsonKeys(keys.slice(1).split('.')));
  return '';
}

function printed(written: Written): string {
  const text = written.isCall === true ? written.text : asArgument(written);
  const literal = /^"((?:[^"\\{}]|\\.)*)"$/.exec(text)?.[1];
  return literal ?? `{{${text}}}`;
}

function value(text: string, scope: ForeignScope): string {
  return asArgument(expression(text, scope));
}

/** Of alerts of one state the JSON has no list: it says of all together that some fire. */
function condition(text: string, scope: ForeignScope): string {
  return asArgument(asTruth(expression(text, scope)));
}

function asTruth(written: Written): Written {
  const { part, text } = written;
  if (part === undefined) return written;
  if (part !== 'firing' || !/(?:^|\/)alerts$/.test(text)) return noCounterpart(text);
  return call('eq', [{ text: text.replace(/alerts$/, 'status') }, { text: '"firing"' }]);
}

function expression(text: string, scope: ForeignScope): Written {
  return readExpression(text, { token: TOKEN, scope, read: pipeline });
}

/** What stands before a bar is the last argument behind it. */
function pipeline(reading: Reading): Written {
  let piped = command(reading);
  while (reading.tokens[reading.at] === '|') {
    reading.at += 1;
    piped = command(reading, piped);
  }
  return piped;
}

function command(reading: Reading, piped?: Written): Written {
  const { tokens } = reading;
  const word = tokens[reading.at] ?? '';
  const isFunction = /^[A-Za-z_]/.test(word);
  if (isFunction) reading.at += 1;
  const args: Written[] = [];
  while (reading.at < tokens.length && !['|', ')'].includes(tokens[reading.at] ?? ''))
    args.push(operand(reading));
  const all = piped === undefined ? args : [...args, piped];
  if (isFunction) return ['true', 'false', 'nil'].includes(word) ? { text: word } : func(word, all);
  const [first, format] = all;
  if (first !== undefined && all.length === 1) return first;
  const [, path] = /^(.+)\.format$/.exec(first?.text ?? '') ?? [];
  return path !== undefined && format !== undefined
    ? filtered('date', { text: path }, [format])
    : noCounterpart(word);
}

function operand(reading: Reading): Written {
  const token = reading.tokens[reading.at] ?? '';
  reading.at += 1;
  if (token === '(') {
    const inner = pipeline(reading);
    if (reading.tokens[reading.at] !== ')') return noCounterpart('(');
    reading.at += 1;
    return inner;
  }
  if (/^["\d-]/.test(token)) return { text: token };
  if (token.startsWith('`')) return { text: JSON.stringify(token.slice(1, -1)) };
  const [, list, part] = /^(.*)\.(Firing|Resolved)$/.exec(token) ?? [];
  if (list !== undefined && part !== undefined)
    return { ...pathOf(list === '' ? '.' : list, reading.scope), part: part.toLowerCase() };
  return pathOf(token, reading.scope);
}

function pathOf(token: string, scope: ForeignScope): Written {
  if (token.startsWith('.')) return { text: scope.here(jsonKeys(token.slice(1).split('.'))) };
  return token.startsWith('$') ? { text: variable(token.slice(1), scope) } : noCounterpart(token);
}

function variable(text: string, scope: ForeignScope): string {
  const [name = '', ...keys] = text.split('.');
  if (name === '') return scope.root(jsonKeys(keys));
  return scope.variable(name, jsonKeys(keys)) ?? noCounterpart(`$${name}`);
}

/** Maps whose keys are the sender's own. */
const MAPS = /^(?:common|group)?(?:labels|annotations)$|^values$/i;

/** What Go calls on a value, and no field of the JSON. */
const METHODS = /^(?:Firing|Resolved|SortedPairs|Names|Remove|Has)$/;

/** Fields of Go as JSON mostly has them: with a small first letter. */
function jsonKeys(keys: readonly string[]): readonly string[] {
  const own = keys.findIndex((key) => MAPS.test(key));
  const isCalled = keys.some(
    (key, index) => METHODS.test(key) || (key === 'Values' && own !== -1 && index > own),
  );
  if (isCalled) return noCounterpart(keys.join('.'));
  return keys
    .filter((key) => key !== '')
    .map((key, index) => {
      if (own !== -1 && index > own) return key;
      if (key === 'OrgID') return 'orgId';
      return /^[A-Z]{2,}$/.test(key) ? key.toLowerCase() : key.charAt(0).toLowerCase() + key.slice(1);
    });
}

function func(name: string, args: readonly Written[]): Written {
  const [first, second] = args;
  if (first === undefined) return noCounterpart(name);
  if (name === 'eq' && args.length > 2)
    return call(
      'or',
      args.slice(1).map((one) => call('eq', [first, one])),
    );
  if (['eq', 'ne', 'and', 'or', 'not'].includes(name)) return call(name, args);
  if (name === 'len') return { ...call('length', [{ ...first, part: undefined }]), counted: first };
  // More than none is what a condition asks of a list anyway.
  if ((name === 'gt' || name === 'ne') && second?.text === '0' && first.counted !== undefined)
    return asTruth(first.counted);
  if (name === 'index' && args.length === 2) return call('lookup', args);
  if (name === 'printf')
    return second !== undefined && /^"%[sv]"$/.test(first.text) ? second : noCounterpart(name);
  const value = args.at(-1);
  const known = (Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined) ?? name;
  return value === undefined ? noCounterpart(name) : filtered(known, value, args.slice(0, -1));
}

const FUNCTIONS: Readonly<Record<string, string>> = {
  toUpper: 'upper',
  toLower: 'lower',
  trimSpace: 'trim',
  trunc: 'truncate',
  toJson: 'json',
  toPrettyJson: 'json',
};
