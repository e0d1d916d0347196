import { explainMissingPackages, findMissingPackages } from '../../engine/config/config.ts';
import { MailFailure } from './mail-failure.ts';

/**
 * Makes sure that the optional packages of the mail room are installed.
 * @throws MailFailure that names the command which installs them
 */
export function requirePackages(names: readonly string[]): void {
  const missing = findMissingPackages(names, import.meta.url);
  if (missing.length > 0) throw new MailFailure('settings', explainMissingPackages('reading mail', missing));
}
