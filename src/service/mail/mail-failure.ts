import { explainMissingPackages, findMissingPackages } from '../../engine/config/config.ts';
import { describe } from '../../base/outgoing/outgoing.ts';

/**
 * Why a mailbox cannot be read right now. `authentication`: the server knows us not, and trying again in a loop would
 * only lock the account. `settings`: something the operator has to change, such as a folder that is not there.
 * `connection`: everything that may be over in a moment.
 */
export type MailFailureKind = 'authentication' | 'settings' | 'connection';

/** A mailbox that cannot be read. The message is for people and has no secret. */
export class MailFailure extends Error {
  override readonly name = 'MailFailure';
  readonly kind: MailFailureKind;

  constructor(kind: MailFailureKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** Makes a failure of any error; an unknown one counts as passing. */
export function toMailFailure(error: unknown, secrets: readonly string[] = []): MailFailure {
  if (error instanceof MailFailure) return error;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const text = describe(message, secrets) ?? 'an unknown error';
  return new MailFailure('connection', typeof code === 'string' ? `${text} (${code})` : text, {
    cause: error,
  });
}

/**
 * Makes sure that the optional packages of the mail module are installed.
 * @throws MailFailure that names the command which installs them
 */
export function requirePackages(names: readonly string[]): void {
  const missing = findMissingPackages(names, import.meta.url);
  if (missing.length > 0) throw new MailFailure('settings', explainMissingPackages('reading mail', missing));
}
