import { adviseOnCheck, type Diagnosis, findAddressCheck, readTexts } from '../verify/verify.ts';
import type { Exchange } from './exchange.ts';
import type { IncomingHook } from './incoming-hook.ts';
import { smallBody } from './small-body.ts';

/** A question is short: longer bodies are not waited for. */
const MAX_QUESTION_BYTES = 2048;

/** That a request without a proof only asks whether the address is right, and what answers it. */
export async function explainQuestion(
  exchange: Exchange,
  hook: IncomingHook,
): Promise<Diagnosis | undefined> {
  const { generation, headers, hasBody } = exchange;
  const { name, settings, target } = hook;
  if (settings.challenge !== undefined || !generation.knowsName(name)) return undefined;
  const { query } = target;
  const header = (name: string): string | undefined => headers.values[name];
  const body = await smallBody(exchange, hook, MAX_QUESTION_BYTES);
  const check = findAddressCheck({ header, query, hasBody, ...readTexts(body) });
  const place = generation.placeOf?.(name) ?? 'a mapping of this path';
  return check && { code: 'challenge', text: adviseOnCheck(check, place) };
}
