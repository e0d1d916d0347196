import { truthy, UNKNOWN, type Evaluate, type Frame, type RuleValue } from './rule-value.ts';

const CONNECTIVES: ReadonlySet<string> = new Set(['and', 'or', '!', '!!', 'if', '?:']);

export function isConnective(operator: string): boolean {
  return CONNECTIVES.has(operator);
}

/** Compiles `and`, `or`, `!`, `!!`, `if` or `?:`. */
export function compileConnective(operator: string, operands: readonly Evaluate[]): Evaluate {
  switch (operator) {
    case 'and':
      return (frame) => firstOrLast(operands, false, frame);
    case 'or':
      return (frame) => firstOrLast(operands, true, frame);
    case '!':
    case '!!': {
      const [operand] = operands;
      return (frame) => {
        const value = operand?.(frame) ?? null;
        return value === UNKNOWN ? UNKNOWN : truthy(value) === (operator === '!!');
      };
    }
    default:
      return (frame) => evaluateIf(operands, frame);
  }
}

/** `and` yields its first false operand, `or` its first true one, else the last; unknown where an unknown one decides. */
function firstOrLast(operands: readonly Evaluate[], deciding: boolean, frame: Frame): RuleValue {
  let last: RuleValue = null;
  let unknown = false;
  for (const operand of operands) {
    last = operand(frame);
    if (last === UNKNOWN) unknown = true;
    else if (truthy(last) === deciding) return last;
  }
  return unknown ? UNKNOWN : last;
}

function evaluateIf(operands: readonly Evaluate[], frame: Frame): RuleValue {
  let at = 0;
  for (; at + 1 < operands.length; at += 2) {
    const condition = operands[at]?.(frame) ?? null;
    if (condition === UNKNOWN) return UNKNOWN;
    if (truthy(condition)) return operands[at + 1]?.(frame) ?? null;
  }
  return operands[at]?.(frame) ?? null;
}
