/**
 * Stripe's amounts are whole numbers in the smallest unit of their currency, and currencies differ in how many of
 * those make one: 2000 eur is 20.00, 2000 jpy is 2000, 2000 kwd is 2.000. This writes them as people read them.
 */
import { defineTransform } from 'sluice';

interface StripeObject {
  object: string;
  id: string;
  currency?: string;
  amount?: number;
  amount_due?: number;
  amount_total?: number | null;
  amount_refunded?: number;
  customer_email?: string | null;
  customer_name?: string | null;
  customer_details?: { email?: string | null; name?: string | null } | null;
  next_payment_attempt?: number | null;
}

interface StripeEvent {
  id: string;
  type: string;
  livemode: boolean;
  data: { object: StripeObject };
}

/** https://docs.stripe.com/currencies#zero-decimal; ugx is among them there, yet its amounts come in hundredths. */
const ZERO_DECIMAL = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '));
/** https://docs.stripe.com/currencies#three-decimal */
const THREE_DECIMAL = new Set('bhd jod kwd omr tnd'.split(' '));

export function formatAmount(amount: number, currency: string): string {
  const code = currency.toLowerCase();
  const digits = ZERO_DECIMAL.has(code) ? 0 : THREE_DECIMAL.has(code) ? 3 : 2;
  const value = new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${value.format(amount / 10 ** digits)} ${code.toUpperCase()}`;
}

export default defineTransform<StripeEvent>(({ payload }) => {
  const { object } = payload.data;
  const amount = object.amount_due ?? object.amount_total ?? object.amount;
  // Events without money in them keep the mapping's own words.
  if (typeof amount !== 'number' || object.currency === undefined) return undefined;

  const who =
    object.customer_name ??
    object.customer_details?.name ??
    object.customer_email ??
    object.customer_details?.email ??
    'an unknown customer';
  const refunded = object.amount_refunded ?? 0;
  const lines = [
    `${payload.type.replaceAll('_', ' ').replaceAll('.', ', ')}: ${formatAmount(amount, object.currency)} from ${who}`,
    ...(refunded > 0 ? [`Refunded: ${formatAmount(refunded, object.currency)}`] : []),
    ...(typeof object.next_payment_attempt === 'number'
      ? [`Next attempt: ${new Date(object.next_payment_attempt * 1000).toISOString()}`]
      : []),
    ...(payload.livemode ? [] : ['This is a test event.']),
    `${object.object} ${object.id}`,
  ];
  return { message: lines.join('\n') };
});
