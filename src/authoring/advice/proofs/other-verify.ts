import {
  type Diagnosis,
  SCHEMES,
  type SenderProof,
  type VerifySettings,
} from '../../../engine/verify/verify.ts';
import type { OtherVerify } from '../../../engine/verify/facts.ts';
import { defined } from '../../../base/json.ts';
import { columnsOf, generalProof, keysOf, withSecrets } from './written-verify.ts';

type Code = Extract<Diagnosis, { readonly facts: OtherVerify }>['code'] | 'malformed-proof';

/** What it is called that such a key has to change; of several the first says most. */
const CODES: readonly (readonly [key: string, code: Code])[] = [
  ['secretEncoding', 'secret-encoding'],
  ['signed', 'signed-content'],
  ['timestampHeader', 'signed-content'],
  ['timestampField', 'signed-content'],
  ['timestampMember', 'signed-content'],
  ['idHeader', 'signed-content'],
  ['timestampUnit', 'timestamp-unit'],
  ['prefix', 'prefix'],
  ['encoding', 'encoding'],
  ['algorithm', 'algorithm'],
  ['separator', 'malformed-proof'],
  ['signatureField', 'malformed-proof'],
];

/** That a request is right by another proof, or looks so: with what has to change. */
export function otherVerify(
  settings: Exclude<VerifySettings, { scheme: 'oidc' }>,
  verify: SenderProof,
  more: Pick<OtherVerify, 'isProved' | 'header' | 'of' | 'or'>,
): Diagnosis {
  const { secrets, scheme } = settings;
  const facts = { verify, secrets, now: scheme, ...more };
  const [own] = columnsOf(settings);
  const [other] = columnsOf(withSecrets(verify, secrets));
  const isSame = own !== undefined && own.header === other?.header && !Object.hasOwn(SCHEMES, verify.scheme);
  // A name stands for what is signed, too: what does not sign that is another scheme.
  const isNamed = Object.hasOwn(SCHEMES, scheme) && scheme !== verify.scheme;
  if (!isSame || (isNamed && own.signed !== other.signed && !more.isProved))
    return { code: 'other-scheme', facts: { ...defined({ header: other?.header }), ...facts } };
  const [before, after] = [keysOf(generalProof(own)), keysOf(generalProof(other))];
  const write = Object.fromEntries(Object.entries(after).filter(([key, value]) => before[key] !== value));
  const remove = Object.keys(before).filter((key) => after[key] === undefined);
  const code = CODES.find(([key]) => key in write || remove.includes(key))?.[1] ?? 'other-scheme';
  return { code, facts: scheme === verify.scheme ? { ...facts, write, remove } : facts };
}
