import { isJsonObject } from '../json.ts';
import type { Operation } from '../mapping/facts.ts';

/** An order as it reads from its other side. */
export const MIRRORED: Readonly<Record<string, string>> = { '>': '<', '>=': '<=', '<': '>', '<=': '>=' };

const ANY: ReadonlySet<string> = new Set(['>0', '>=1']);
const NONE: ReadonlySet<string> = new Set(['<1', '<=0']);

/** A list that is made and compared with a number by its order: JsonLogic does not count. */
export function listOrderFinding({
  operator,
  operands,
}: Pick<Operation, 'operator' | 'operands'>):
  | { readonly message: string; readonly hint: string; readonly purpose: string; readonly rule: string }
  | undefined {
  const at = operands.findIndex((operand) => madeBy(operand) !== undefined);
  const [list, number] = [operands[at], operands[1 - at]];
  const maker = madeBy(list);
  const mirrored = MIRRORED[operator];
  if (mirrored === undefined || maker === undefined || operands.length !== 2 || typeof number !== 'number')
    return undefined;
  const message = `"${operator}" compares the list that "${maker.operator}" makes with the number ${number}: a list is no number, and is not counted`;
  const asked = `${at === 0 ? operator : mirrored}${number}`;
  const meant =
    maker.operator === 'filter'
      ? ANY.has(asked)
        ? 'some'
        : NONE.has(asked)
          ? 'none'
          : undefined
      : undefined;
  if (meant !== undefined) {
    const rule = JSON.stringify({ [meant]: maker.operands });
    const asks = `to ask whether ${meant === 'some' ? 'there is one' : 'there is none'}`;
    return { message, hint: `${asks} write ${rule}`, purpose: asks, rule };
  }
  const count = { reduce: [list, { '+': [{ var: 'accumulator' }, 1] }, 0] };
  const counted = operands.map((operand) => (operand === list ? count : operand));
  const rule = JSON.stringify({ [operator]: counted });
  const purpose = 'count in a transform, or';
  return { message, hint: `${purpose} write ${rule}`, purpose, rule };
}

function madeBy(operand: unknown): { readonly operator: string; readonly operands: unknown } | undefined {
  const [[operator, operands] = []] = isJsonObject(operand) ? Object.entries(operand) : [];
  return operator === 'filter' || operator === 'map' ? { operator, operands } : undefined;
}
