/* Conditions that leave something out, and took it: the value is nearly the one that was to be left out. */
import { isJsonObject, isScalar, valueAt, type JsonValue } from '../../json.ts';
import type { HookRequest } from '../../request.ts';
import { createPathFinder } from './path-candidates.ts';
import {
  readOperands,
  ruleText,
  shown,
  withOperand,
  type Operand,
  type ReadVariable,
} from './rule-operands.ts';

/** How a text becomes the one that was sent: applied to each text of a list. */
type Change = (text: string) => string;

/** What differs between the value that was sent and the one that a condition names; undefined where they are two things. */
function changeTo(sent: string, named: string): Change | undefined {
  const [ref] = /^refs\/(?:heads|tags)\//.exec(sent) ?? [];
  if (ref !== undefined && sent === `${ref}${named}`) return (text) => `${ref}${text}`;
  if (sent === `${named}[bot]`) return (text) => `${text}[bot]`;
  const folder = sent.slice(0, sent.lastIndexOf('/') + 1);
  if (folder !== '' && sent === `${folder}${named}`) return (text) => `${folder}${text}`;
  if (named.endsWith(`/${sent}`)) return (text) => text.slice(text.lastIndexOf('/') + 1);
  return plainOf(sent) === plainOf(named) ? (text) => (text === named ? sent : text) : undefined;
}

const plainOf = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, '-');

/** Why "is not" held; `negated`: an "is" stands below a `!`. Undefined where the value is another thing. */
export function adviseOnExcluded(rule: JsonValue, read: ReadVariable, negated: boolean): string | undefined {
  const known = readOperands(rule, read);
  if (known === undefined || known.operands.length !== 2) return undefined;
  if (!(negated ? /^(?:===?|in)$/ : /^!==?$/).test(known.operator)) return undefined;
  const subject = known.operands.find(({ name }) => name !== undefined);
  const wanted = known.operands.find((each) => each !== subject);
  if (subject?.name === undefined || wanted === undefined || wanted.name !== undefined) return undefined;
  const near = typeof subject.value === 'string' ? nearIn(subject.value, wanted) : undefined;
  if (near === undefined) return undefined;
  const { named, change } = near;
  const list = wanted.value;
  const meant = Array.isArray(list)
    ? (list as readonly JsonValue[]).map((each) => (typeof each === 'string' ? change(each) : each))
    : change(named);
  return `${subject.name} is ${shown(subject.value ?? null)}, which is not ${shown(named)}: to leave that out write ${withOperand(known, wanted, meant)}`;
}

/** The text that is named, or the one of a list, that is nearly the one that was sent. */
function nearIn(
  sent: string,
  { value }: Operand,
): { readonly named: string; readonly change: Change } | undefined {
  const all = Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
  // What is named as it was sent is left out already.
  if (all.includes(sent)) return undefined;
  for (const named of all) {
    const change = typeof named === 'string' && named !== '' ? changeTo(sent, named) : undefined;
    if (typeof named === 'string' && change !== undefined) return { named, change };
  }
  return undefined;
}

/** Names that many objects have: another one is another thing. */
const COMMON = /^(?:id|name|type|status|state|url|title|email|number|key|value|user|date|at|\d+)$/;

/** A `!` that held since nothing stands at its path, and something of that name stands at another one. */
export function adviseOnAbsent(missing: string, { payload }: HookRequest): string | undefined {
  const keys = missing.replace(/^payload\./, '').split('.');
  const last = keys.at(-1) ?? '';
  if (COMMON.test(last)) return undefined;
  const found = createPathFinder(payload)(keys).filter((each) => each.keys.at(-1) === last);
  const [near, ...more] = found;
  const value = near === undefined ? undefined : valueAt(payload, near.keys);
  if (near === undefined || more.length > 0 || isJsonObject(value) || !isScalar(value)) return undefined;
  if (value === false || value === 0 || value === '') return undefined;
  const root = missing.startsWith('payload.') ? 'payload.' : '';
  const path = `${root}${near.keys.join('.')}`;
  return `${missing} is missing, and the request has ${path} (${shown(value)}): write ${ruleText('!', [{ var: path }])}`;
}
