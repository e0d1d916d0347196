/*
 * The file of a transform that does what the parts of a mapping say which conditions and templates cannot, where that is
 * simple enough to be written for certain.
 */
import { isJsonObject, type JsonValue } from '../json.ts';
import { conjunctsOf, type CompiledMapping } from '../mapping/mapping.ts';

/** How a path is read in code. */
export type CodeOfPath = (path: string) => string;

/** Steps of a path in JavaScript; `link` stands before each, as `?.` where what is above may be missing. */
export function codeOfSteps(steps: readonly string[], link: '' | '?.' = ''): string {
  return steps
    .map((key) => {
      if (/^[A-Za-z_$][\w$]*$/.test(key)) return `${link || '.'}${key}`;
      return `${link}[${/^\d+$/.test(key) ? key : JSON.stringify(key)}]`;
    })
    .join('');
}

/** What a file is made of: the lines before all others, what has to hold, and what is returned. */
export interface TransformParts {
  readonly lines: readonly string[];
  readonly checks: readonly string[];
  readonly returned: string;
}

/** Where the file goes, and its lines. */
export function transformFile(
  { id }: Pick<CompiledMapping, 'id'>,
  { lines, checks, returned }: TransformParts,
): string {
  const code = [...lines, ...checks, returned].join(' ');
  const roots = ['payload', 'item', 'headers', 'query'].filter((name) =>
    new RegExp(String.raw`\b${name}[.[?]`).test(code),
  );
  return [
    `write the file transforms/${id}.js (the folder is hooks.transformsDir) so:`,
    `  export default ({ ${roots.join(', ')} }) => {`,
    ...lines.map((line) => `    ${line}`),
    ...(checks.length === 0 ? [] : [`    if (!(${checks.join(' && ')})) return null;`]),
    `    return ${returned};`,
    '  };',
  ].join('\n');
}

/** The setting `when` of what is left of a condition. */
export function whenOf(left: readonly JsonValue[]): string | undefined {
  const [only, ...more] = left;
  if (only === undefined) return undefined;
  return `when: ${JSON.stringify(more.length === 0 ? only : { and: left })}`;
}

/** The parts of a condition that a transform decides, and the others. */
export function splitRule(
  rule: JsonValue | undefined,
  isWithin: (part: JsonValue) => boolean,
): { readonly within: readonly JsonValue[]; readonly left: readonly JsonValue[] } {
  const conjuncts = conjunctsOf(rule);
  return { within: conjuncts.filter(isWithin), left: conjuncts.filter((each) => !isWithin(each)) };
}

/** A comparison of a path with a constant as JavaScript, or some of them joined; undefined for any other rule. */
export function codeOfRule(rule: JsonValue, codeOf: CodeOfPath): string | undefined {
  const [entry] = isJsonObject(rule) ? Object.entries(rule) : [];
  if (entry === undefined || !Array.isArray(entry[1])) return undefined;
  const [operator, operands] = entry as readonly [string, readonly JsonValue[]];
  if (operator === 'and' || operator === 'or') {
    const parts = operands.map((each) => codeOfRule(each, codeOf));
    return parts.includes(undefined) ? undefined : `(${parts.join(operator === 'and' ? ' && ' : ' || ')})`;
  }
  const [read, wanted] = operands;
  if (wanted === undefined || operands.length !== 2) return undefined;
  const [left, right] = [codeOfOperand(read, codeOf), codeOfOperand(wanted, codeOf)];
  if (left === undefined || right === undefined) return undefined;
  if (operator === 'in') return Array.isArray(wanted) ? `${right}.includes(${left})` : undefined;
  const sign = { '==': '===', '!=': '!==' }[operator] ?? operator;
  return /^(?:===|!==|[<>]=?)$/.test(sign) ? `${left} ${sign} ${right}` : undefined;
}

function codeOfOperand(operand: JsonValue | undefined, codeOf: CodeOfPath): string | undefined {
  if (!isJsonObject(operand)) return operand === undefined ? undefined : JSON.stringify(operand);
  const name = operand['var'];
  return typeof name === 'string' && Object.keys(operand).length === 1 ? codeOf(name) : undefined;
}
