/* Amounts that most likely count the smallest unit of their currency: Stripe, Adyen, Mollie and others send cents. */
import { isNumeric } from '../../json.ts';
import { holdsInTurn } from './order-advice.ts';
import { ruleText, type KnownRule, type ReadVariable } from './rule-operands.ts';

/** Currencies without a smaller unit. */
const WHOLE = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf ugx vnd vuv xaf xof xpf'.split(' '));
const MONEY =
  /^(?:(?:\w*_)?(?:amount|total|subtotal|price|balance)(?:_\w+)?|[a-z]+(?:Amount|Total|Price|Balance)|(?:amount|total|price)[A-Z]\w*)$/;
/** Who compares with more knows the unit. */
const MOST_IN_WHOLE = 1_000;

/** An amount without a point beside a currency. */
export interface Cents {
  readonly value: number;
  /** As the request has it, e.g. `eur`. */
  readonly currency: string;
}

/** The amount at a path that is most likely one of cents. */
export function centsAt(path: string, read: ReadVariable): Cents | undefined {
  const keys = path.split('.');
  const last = keys.at(-1) ?? '';
  // `amount: {value: 4990, currency: EUR}`.
  const isMoney = MONEY.test(last) || (last === 'value' && MONEY.test(keys.at(-2) ?? ''));
  const found = isMoney ? read(path) : undefined;
  // Who writes whole units as a text writes a point in it.
  const value = typeof found === 'string' && /^\d{3,12}$/.test(found) ? Number(found) : found;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 100) return undefined;
  const currency = currencyFor(keys.slice(0, -1), read, typeof found === 'string');
  return currency === undefined || WHOLE.has(currency.toLowerCase()) ? undefined : { value, currency };
}

/** The currency beside an amount; of one that is a text also above it, as a text without a point is told by that alone. */
function currencyFor(parents: readonly string[], read: ReadVariable, isAbove: boolean): string | undefined {
  for (let depth = parents.length; depth >= (isAbove ? 0 : parents.length); depth -= 1) {
    for (const name of ['currency', 'currency_code', 'currencyCode']) {
      const currency = read([...parents.slice(0, depth), name].join('.'));
      if (typeof currency === 'string' && /^[A-Za-z]{3}$/.test(currency)) return currency;
    }
  }
  return undefined;
}

/** A small number compared with an amount of cents, where a hundred times as many would give the other answer. */
export function adviseOnCents({ operator, operands }: KnownRule, read: ReadVariable): string | undefined {
  const limit = operands.find(({ name }) => name === undefined)?.value;
  const name = operands.map((each) => each.name).find((each) => each !== undefined);
  const cents = name === undefined ? undefined : centsAt(name, read);
  if (cents === undefined || !isNumeric(limit) || Number(limit) > MOST_IN_WHOLE) return undefined;
  const times = Number(limit) * 100;
  const values = operands.map(({ value }) => Number(value));
  const meant = operands.map((each, at) => (each.name === undefined ? times : (values[at] ?? 0)));
  if (holdsInTurn(operator, values) === holdsInTurn(operator, meant)) return undefined;
  const inWhole = (value: number): string => `${(value / 100).toFixed(2)} ${cents.currency}`;
  const written = operands.map((each) => (each.name === undefined ? times : each.written));
  return `many senders count ${cents.currency} in cents (Stripe does): then ${name} ${cents.value} is ${inWhole(cents.value)}, and ${Number(limit)} is ${inWhole(Number(limit))}; for ${inWhole(times)} write ${ruleText(operator, written)}`;
}
