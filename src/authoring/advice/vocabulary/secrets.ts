import type { SecretFacts } from '../../../engine/verify/verify.ts';
import { ownSender, shownAs } from './senders.ts';

/** What to do about a secret that is wrong. */
export function secretHint({ scheme, wrong, user }: SecretFacts): string {
  if (wrong === 'quotes')
    return 'remove the quotes where the value is set (an env file of docker keeps them), not those in the mapping';
  if (user !== undefined)
    return 'remove the user and the colon from its value: a secret of the scheme basic is the password alone';
  if (wrong === 'form')
    return `set it to ${shownAs(scheme) ?? 'the secret that the sender shows for its webhook'}`;
  const { public: isPublic = false, what = '' } = ownSender(scheme)?.secret ?? {};
  return `set ${isPublic ? `it to ${what}` : 'what it refers to'}; without a good secret the path refuses every request`;
}
