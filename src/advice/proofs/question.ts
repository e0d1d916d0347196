import type { QuestionFacts } from '../../server/server.ts';
import { adviseOnCheck, findAddressCheck, readTexts } from '../vocabulary/address-checks.ts';
import { type Diagnosis } from '../../verify/verify.ts';

/** That a request without a proof only asks whether the address is right, and what answers it. */
export function explainQuestion({
  headers,
  query,
  hasBody,
  body,
  place = 'a mapping of this path',
}: QuestionFacts): Diagnosis | undefined {
  const check = findAddressCheck({ header: (name) => headers[name], query, hasBody, ...readTexts(body) });
  return check && { code: 'challenge', text: adviseOnCheck(check, place) };
}
