/* Rules that hold as they are written, and for more than was probably meant. */
import { isScalar, type JsonValue, sameValue } from '../../json.ts';
import { elementRule, elementsOf, readElement } from './element-advice.ts';
import { adviseOnCents } from './minor-units.ts';
import { isOrder } from './order-advice.ts';
import {
  readOperands,
  ruleText,
  shown,
  takeApart,
  variableName,
  type ReadVariable,
} from './rule-operands.ts';

/** Why a rule held that may not have been meant to; undefined where nothing speaks for it. */
export function adviseOnHeld(rule: JsonValue, read: ReadVariable): string | undefined {
  return adviseOnPart(rule, read) ?? adviseOnOthers(rule, read) ?? adviseOnUnits(rule, read);
}

/** A number of whole units, and an amount in cents. */
function adviseOnUnits(rule: JsonValue, read: ReadVariable): string | undefined {
  const known = readOperands(rule, read);
  return known !== undefined && isOrder(known.operator) ? adviseOnCents(known, read) : undefined;
}

/** `in` of a name in a longer name, with the whole name that was probably meant. */
function adviseOnPart(rule: JsonValue, read: ReadVariable): string | undefined {
  const known = readOperands(rule, read);
  const [needle, hay] = known?.operands ?? [];
  if (known?.operator !== 'in' || hay?.name === undefined || needle === undefined) return undefined;
  const { value: part } = needle;
  const { value: whole } = hay;
  if (typeof part !== 'string' || typeof whole !== 'string' || part === whole) return undefined;
  const meant = wholeText(part, whole);
  if (meant === undefined) return undefined;
  const written = meant === part ? needle.written : meant;
  return `${shown(part)} is only a part of ${shown(whole)}: for the whole text write ${ruleText('===', [hay.written, written])}`;
}

/** A part of a sentence, one with a separator at an end and one before a separator are meant as a part. */
function isMeantAsPart(part: string, whole: string): boolean {
  if (/\s/.test(whole) || !/^[\p{L}\p{N}](?:.*[\p{L}\p{N}])?$/u.test(part)) return true;
  return whole.startsWith(part) && /[^\p{L}\p{N}]/u.test(whole.charAt(part.length));
}

/** The text that stands where the whole one was found: after the names of folders and kinds that begin it. */
function wholeText(part: string, whole: string): string | undefined {
  const at = whole.lastIndexOf(part);
  if (at === -1 || isMeantAsPart(part, whole)) return undefined;
  const ref = /^refs\/\w+\//.exec(whole)?.[0];
  if (ref !== undefined && at >= ref.length) return `${ref}${part}`;
  if (at === 0) return part;
  // What goes on behind it in other folders is not known.
  if (/[/:]/.test(whole.slice(at + part.length))) return undefined;
  const start = Math.max(...['/', ':', '.'].map((mark) => whole.lastIndexOf(mark, at - 1))) + 1;
  const meant = `${whole.slice(0, start)}${part}`;
  return meant === whole && ref === undefined ? undefined : meant;
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
