import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { refuseMissing } from './checks-that-must-run.ts';

/** Where Debian puts each major version. */
const VERSIONS = '/usr/lib/postgresql';
const OLDEST = 14;

/**
 * The programs of the newest PostgreSQL that Debian has installed, or why they cannot be used.
 * @throws where its checks must run, as in CI once it is installed
 */
export function findDebianPostgres(): { readonly programs: string } | { readonly missing: string } {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).map(Number) : [];
  const newest = Math.max(0, ...versions.filter((version) => existsSync(programsOf(version, 'postgres'))));
  if (newest >= OLDEST) return { programs: programsOf(newest) };
  const missing = `no PostgreSQL of Debian from ${OLDEST} on is installed (postgresql)`;
  refuseMissing('postgresql', missing);
  return { missing };
}

function programsOf(version: number, program = ''): string {
  return join(VERSIONS, String(version), 'bin', program);
}
