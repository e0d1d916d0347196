/* Rules that hold as they are written, and for more than was probably meant. */
import { sameValue, type JsonValue } from '../json.ts';
import { elementRule, elementsOf, readElement } from './element-advice.ts';
import {
  isScalar,
  readOperands,
  ruleText,
  shown,
  takeApart,
  variableName,
  type ReadVariable,
} from './rule-operands.ts';

/** Why a rule held that may not have been meant to; undefined where nothing speaks for it. */
export function adviseOnHeld(rule: JsonValue, read: ReadVariable): string | undefined {
  return adviseOnPart(rule, read) ?? adviseOnOthers(rule, read);
}

/** `in` of a name in a longer name. A part of a sentence, or one with a separator at its end, is meant as a part. */
function adviseOnPart(rule: JsonValue, read: ReadVariable): string | undefined {
  const known = readOperands(rule, read);
  const [needle, hay] = known?.operands ?? [];
  if (known?.operator !== 'in' || hay?.name === undefined || needle === undefined) return undefined;
  const { value: part } = needle;
  const { value: whole } = hay;
  if (typeof part !== 'string' || typeof whole !== 'string' || part === whole) return undefined;
  if (/\s/.test(whole) || !/^\w(?:.*\w)?$/.test(part)) return undefined;
  const isRef = whole.startsWith('refs/') && whole.endsWith(`/${part}`);
  const meant = ruleText('===', [hay.written, isRef ? whole : needle.written]);
  return `${shown(part)} is only a part of ${shown(whole)}: for the whole text write ${meant}`;
}

/** `some` with a lone "is not", where an element is there that is that very value: another one made it hold. */
function adviseOnOthers(rule: JsonValue, read: ReadVariable): string | undefined {
  const elements = elementRule(rule, read);
  const inner = takeApart(elements?.rule);
  if (elements?.operator !== 'some' || inner === undefined || !/^!==?$/.test(inner.operator))
    return undefined;
  const name = inner.operands.map(variableName).find((each) => each !== undefined);
  const value = inner.operands.find(isScalar);
  if (name === undefined || value === undefined) return undefined;
  const isThere = elementsOf(elements).some((element) => {
    const found = readElement(element)(name);
    return found !== undefined && sameValue(found, value);
  });
  if (!isThere) return undefined;
  const [list] = takeApart(rule)?.operands ?? [];
  const none = ruleText('none', [list ?? null, { [inner.operator.replace('!', '=')]: inner.operands }]);
  const what = name === '' ? shown(value) : `an element whose ${name} is ${shown(value)}`;
  return `${elements.list} has ${what}, too: "some" holds as soon as one other element is there; where none may be ${shown(value)} write ${none}`;
}
