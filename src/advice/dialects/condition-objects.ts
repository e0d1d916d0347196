/**
 * Conditions as objects of other tools: the rules of adnanh/webhook, MongoDB's queries, and
 * plain fields with their values. What is not known for certain is no rule.
 */
import { printRule } from '../rule-parts.ts';
import { isJsonObject, type JsonObject } from '../../json.ts';
import { operatorHint, isOperatorName } from './operators.ts';
import { compare, fieldRules, joined, ofElement, pathHere, type FieldRule } from './field-rules.ts';

/** Longer rules are not written out. */
const MAX_RULE_CHARS = 400;

/** What to say of a condition of another tool, and the rule as JSON; undefined where the object is none. */
export function conditionOfTool(
  value: JsonObject,
  isElement = false,
): { readonly hint: string; readonly rule?: string } | undefined {
  const match = value['match'];
  const isMatch = isJsonObject(match) && typeof match['type'] === 'string';
  const own = ruleOfObject(value);
  if (own === undefined) {
    const hint = isMatch ? matchHint(match) : undefined;
    return hint === undefined ? undefined : { hint };
  }
  const rule = printRule(isElement ? ofElement(own) : own);
  return rule.length > MAX_RULE_CHARS ? undefined : { hint: `write ${rule}`, rule };
}

/** Rules of adnanh/webhook that are no condition here. */
function matchHint(match: JsonObject): string | undefined {
  const { type, parameter, regex } = match;
  const kind = typeof type === 'string' ? type : '';
  const algorithm = /^payload-(?:hmac|hash)-(sha\d+)$/.exec(kind)?.[1];
  if (algorithm !== undefined) {
    const header = parameterPath(parameter)?.replace(/^headers\./, '') ?? 'x-signature';
    const scheme =
      header === 'x-hub-signature-256'
        ? 'scheme: github'
        : `scheme: hmac, header: ${header}, algorithm: ${algorithm}`;
    return `write verify: {${scheme}, secrets: ['\${NAME}']} beside match, with the secret in the variable NAME, and leave this rule out: a signature is proved before a condition is asked`;
  }
  if (kind === 'ip-whitelist') {
    const { 'ip-range': written } = match;
    const range = typeof written === 'string' ? written : '…';
    return `write allowFrom: [${range
      .trim()
      .split(/[\s,]+/)
      .join(', ')}] beside match, and leave this rule out`;
  }
  const path = parameterPath(parameter);
  return path === undefined || typeof regex !== 'string'
    ? undefined
    : operatorHint('regex', [{ var: path }])?.hint;
}

/** The rule that a condition of another tool means, or a rule of ours. */
export function ruleOfOthers(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const [name = '', ...more] = Object.keys(value);
  const isOurs = more.length === 0 && isOperatorName(name);
  return conditionOfTool(value)?.rule ?? (isOurs ? printRule(value) : undefined);
}

/** The rule that an object of another tool means. */
function ruleOfObject(value: unknown): FieldRule | undefined {
  if (!isJsonObject(value)) return undefined;
  return matchRule(value) ?? joinedRule(value) ?? plainRule(value);
}

/** `{match: {type: value, value: x, parameter: {source: payload, name: ref}}}` of adnanh/webhook. */
function matchRule({ match, ...others }: JsonObject): FieldRule | undefined {
  if (!isJsonObject(match) || Object.keys(others).length > 0) return undefined;
  const path = parameterPath(match['parameter']);
  const { type, value = match['regex'] } = match;
  if (path === undefined) return undefined;
  if (type === 'value') return compare('eq', path, value);
  return type === 'regex' && typeof value === 'string' ? literalRule(path, value) : undefined;
}

/** What a parameter of adnanh/webhook reads. */
function parameterPath(parameter: unknown): string | undefined {
  if (!isJsonObject(parameter)) return undefined;
  const { source, name } = parameter;
  if (typeof name !== 'string' || typeof source !== 'string') return undefined;
  switch (source) {
    case 'payload':
      return `payload.${name}`;
    case 'header':
      return `headers.${name.toLowerCase()}`;
    case 'url':
    case 'query':
      return `query.${name}`;
    default:
      return undefined;
  }
}

/** A pattern that is nothing but a text, at the beginning, at the end, or anywhere; or one of several. */
function literalRule(path: string, pattern: string): FieldRule | undefined {
  const [, begin, inner = '', end] = /^(\^?)(.*?)(\$?)$/s.exec(pattern) ?? [];
  const words = /^\(([^()]*)\)$/.exec(inner)?.[1]?.split('|') ?? [inner];
  const texts = words.map((word) => word.replaceAll(/\\([./-])/g, '$1'));
  const isPlain = words.every((word) => /^(?:[^\\.^$*+?()[\]{}|]|\\[./-])+$/.test(word));
  if (!isPlain) return undefined;
  const [text = ''] = texts;
  if (texts.length > 1) return begin !== '' && end !== '' ? compare('in', path, texts) : undefined;
  if (begin !== '') return compare(end === '' ? 'startswith' : 'eq', path, text);
  return compare(end === '' ? 'contains' : 'endswith', path, text);
}

const JOINS: Readonly<Record<string, 'and' | 'or'>> = { and: 'and', all: 'and', or: 'or', any: 'or' };

/** `{all: […]}`, `{$or: […]}`, `{not: …}` and `{combinator: or, conditions: […]}` around such rules. */
function joinedRule(value: JsonObject): FieldRule | undefined {
  const { combinator, conditions, options: _options, ...others } = value;
  if (Array.isArray(conditions) && Object.keys(others).length === 0)
    return joinAll(conditions, combinator === 'or' ? 'or' : 'and');
  const [key = '', ...more] = Object.keys(value);
  const name = key.replace(/^\$/, '').toLowerCase();
  const inner = value[key];
  if (more.length > 0) return undefined;
  if (name === 'not') {
    const rule = ruleOfObject(inner);
    return rule && { '!': rule };
  }
  const operator = Object.hasOwn(JOINS, name) ? JOINS[name] : undefined;
  return operator !== undefined && Array.isArray(inner) ? joinAll(inner, operator) : undefined;
}

function joinAll(values: readonly unknown[], operator: 'and' | 'or'): FieldRule | undefined {
  const rules = values.flatMap((value): readonly FieldRule[] => {
    const rule = ruleOfObject(value);
    return rule === undefined ? [] : [rule];
  });
  return rules.length < values.length ? undefined : joined(operator, rules);
}

/** Roots of other tools that hold the body or the headers. */
const ROOTS: Readonly<Record<string, string>> = {
  headers: 'headers.',
  header: 'headers.',
  query: 'query.',
  body: 'payload.',
  payload: 'payload.',
};

/** `{action: opened, draft: false}`: no key is an operator here, and each has a value. */
function plainRule(value: JsonObject): FieldRule | undefined {
  const entries = Object.entries(value);
  if (entries.some(([name]) => isOperatorName(name) || !/^[\w$@.-]+$/.test(name) || name.startsWith('$')))
    return undefined;
  const rules = entries.map(([name, wanted]) => {
    const root = Object.hasOwn(ROOTS, name) && isJsonObject(wanted) ? ROOTS[name] : undefined;
    if (root !== undefined) return fieldRules(wanted as object, root);
    const path = pathHere(name);
    return path === undefined ? undefined : fieldRules({ [path]: wanted }, '');
  });
  return rules.includes(undefined)
    ? undefined
    : joined(
        'and',
        rules.flatMap((rule) => rule ?? []),
      );
}
