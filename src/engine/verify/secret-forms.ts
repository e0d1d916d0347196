import type { VerifySettings } from './verify-settings.ts';

/** What is wrong with one secret of a path; it is never in it. */
export interface SecretFacts {
  readonly scheme: VerifySettings['scheme'];
  /** `form`: it can be used, and its form says that it is another one. */
  readonly wrong: 'quotes' | 'form' | 'unusable';
  /** For `form` and `unusable`: what was found. */
  readonly what?: string;
  /** The user of verify, with whom a password begins. */
  readonly user?: string;
}

export function secretSentence({ wrong, what = '' }: SecretFacts): string {
  switch (wrong) {
    case 'quotes':
      return 'the value of this secret begins and ends with a quote, which is then a part of it';
    case 'form':
      return `the value of this secret ${what}`;
    case 'unusable':
      return `this secret of the path cannot be used: ${what}`;
  }
}

/** Says whose credential a text is by its form: keys to somebody's interface, with which no sender signs its webhooks. */
export type OtherKey = (secret: string) => string | undefined;

/** What shows in the text of a secret alone, though it can be used. */
export function doubtSecret(
  settings: VerifySettings,
  secret: string,
  otherKey: OtherKey | undefined,
): SecretFacts | undefined {
  const { scheme } = settings;
  if (settings.scheme === 'basic') {
    const { user } = settings;
    return secret.startsWith(`${user}:`)
      ? { scheme, wrong: 'form', what: `begins with "${user}:", the user of verify`, user }
      : undefined;
  }
  // A text of the operator's own choice, which may be anything.
  if (scheme === 'token' || scheme === 'header' || scheme === 'gitlab' || scheme === 'oidc') return undefined;
  const what = otherKey?.(secret);
  return what === undefined
    ? undefined
    : { scheme, wrong: 'form', what: `has the form of ${what}, and is no signing secret` };
}
