import { findMissingPackage } from '../config/config.ts';
import { MailFailure } from './mail-failure.ts';

/**
 * Makes sure that the optional packages of the mail room are installed.
 * @throws MailFailure that names the command which installs them
 */
export function requirePackages(names: readonly string[]): void {
  const missing = names.filter((name) => findMissingPackage([name], import.meta.url) !== undefined);
  if (missing.length === 0) return;
  const which = missing.length === 1 ? 'the package' : 'the packages';
  throw new MailFailure(
    'settings',
    `reading mail needs ${which} ${missing.join(' and ')}; install with: npm install ${missing.join(' ')}`,
  );
}
