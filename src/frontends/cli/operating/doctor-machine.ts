import { constants, statfsSync, type Stats } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import type { LoadedConfig } from '../../../engine/config/config.ts';
import { isLoopback } from '../../../base/address.ts';
import { findStoreFile, storeStatus } from '../../../engine/storage/storage.ts';
import { clearLine } from '../../../base/telemetry/telemetry.ts';
import { failoverPromise } from '../../../engine/storage/facts.ts';

/** What one check of the set-up showed, also where all is well. */
export interface Check {
  readonly area: string;
  readonly ok: boolean;
  readonly text: string;
}

export const good = (area: string, text: string): Check => ({ area, ok: true, text });
export const bad = (area: string, text: string): Check => ({ area, ok: false, text });

/** With less free space the store may soon accept nothing more. */
const MIN_FREE_BYTES = 500_000_000;
/** A file that is newer than now by more than this shows that the clock is behind. */
const CLOCK_SLACK_MS = 60_000;

/** Checks the configuration and the machine, and asks no other service. */
export async function checkMachine(config: LoadedConfig): Promise<readonly Check[]> {
  return [
    checkNode(process.versions.node, isReached(config.settings.server)),
    ...(await findFileModes(config)),
    ...checkListener(config),
    await findClock(config.file),
    ...(await attempt('store', async () => [await findStore(config)])),
  ];
}

/** The newest security release of each line of Node that was known at a date, the floor for what is reached from outside. */
export const SECURITY_RELEASES = { at: 'November 2026', versions: ['24.22.1', '26.12.1'] };

/** Whether others may reach it: who listens to this machine alone, and names no address, still tries it out. */
export const isReached = ({ host, publicUrl, trustedProxies }: LoadedConfig['settings']['server']): boolean =>
  !isLoopback(host) || publicUrl !== undefined || trustedProxies.length > 0;

export function checkNode(version: string, reached = true): Check {
  const { at, versions } = SECURITY_RELEASES;
  const floor = versions.find((known) => Number.parseInt(known, 10) === Number.parseInt(version, 10));
  if (floor === undefined) return good('node', `${version}; its security releases are not known here`);
  const isNewer = version.localeCompare(floor, 'en', { numeric: true }) >= 0;
  const text = `${version} ${isNewer ? 'is not below' : 'is below'} ${floor}, the security release known in ${at}`;
  if (isNewer) return good('node', text);
  const remedy = `${text}; install it or a newer one`;
  return reached
    ? bad('node', `${remedy}, and start again`)
    : good('node', `${remedy} before others reach this`);
}

/** Others on this machine must not read files with secrets, or write the configuration. */
async function findFileModes({ file, files }: LoadedConfig): Promise<readonly Check[]> {
  const problems: Check[] = [];
  for (const path of files) {
    const stats = await stat(path).catch(() => undefined);
    const problem = stats === undefined ? 'it cannot be read' : modeProblem(stats, path === file);
    if (problem !== undefined) problems.push(bad('files', `${path}: ${problem}`));
  }
  const text = `files of configuration and secrets that are closed to others: ${String(files.length)}`;
  return problems.length > 0 ? problems : [good('files', text)];
}

function modeProblem({ mode }: Stats, isConfiguration: boolean): string | undefined {
  if (isConfiguration) return (mode & 0o022) === 0 ? undefined : 'others can write it; run chmod go-w on it';
  return (mode & 0o077) === 0 ? undefined : 'it holds a secret and others can read it; run chmod 600 on it';
}

function checkListener({ settings: { server } }: LoadedConfig): readonly Check[] {
  const { host, port, trustedProxies, publicUrl } = server;
  const parts = [
    `listens on ${host} port ${String(port)}`,
    trustedProxies.length === 0 ? 'trusts no proxy' : `trusts ${trustedProxies.join(', ')} as proxies`,
    publicUrl === undefined ? 'no publicUrl' : `senders call ${publicUrl}`,
  ];
  const all = trustedProxies.filter((entry) => entry.endsWith('/0'));
  const isPlain = publicUrl?.startsWith('http://') === true && !isLoopback(new URL(publicUrl).hostname);
  return [
    good('listener', parts.join(', ')),
    ...all.map((entry) => bad('proxies', `server.trustedProxies holds ${entry}, ${EVERYBODY_IS_TRUSTED}`)),
    ...(isPlain ? [bad('proxies', URL_IS_PLAIN)] : []),
  ];
}

const EVERYBODY_IS_TRUSTED =
  'which is everybody: whoever calls can write the address that limits and allowFrom go by, and has no limit of connections; name the addresses of your proxies';
const URL_IS_PLAIN =
  'server.publicUrl is not https: tokens cross the network in the clear; put a proxy with TLS in front';

/** Signed times are compared with this clock. */
export async function findClock(file: string): Promise<Check> {
  const { mtimeMs } = await stat(file);
  const aheadMs = mtimeMs - Date.now();
  const ok = aheadMs <= CLOCK_SLACK_MS;
  const text = ok
    ? `it is ${new Date().toISOString()} here; signed times are compared with that`
    : `the clock is at least ${String(Math.round(aheadMs / 1000))} s behind: the configuration was written later than now; set the clock`;
  return { area: 'clock', ok, text };
}

async function askDatabase(url: string): Promise<Check> {
  const { place, server, services } = await storeStatus(url);
  const promise = server === undefined ? '' : `; ${failoverPromise(server)}`;
  const text = `${place}: PostgreSQL ${server?.version ?? ''}, services: ${String(services.length)}${promise}`;
  if (server?.fsync !== 'off') return good('store', text);
  return bad('store', `${text}; fsync is off there: turn it on, or accepted work is lost with the power`);
}

async function findStore({ settings: { storage } }: LoadedConfig): Promise<Check> {
  const file = findStoreFile(storage.url);
  if (file === undefined) return askDatabase(storage.url);
  const folder = dirname(file);
  try {
    await access(folder, constants.W_OK);
    return checkRoom(folder);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    // A folder that is not there yet is made at the first start.
    if (code === 'ENOENT') return good('disk', `${folder} is made at the first start`);
    return bad(
      'disk',
      `the store cannot be written in ${folder} (${code}); allow the user that Sluice runs as`,
    );
  }
}

export function checkRoom(folder: string): Check {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const text = `${String(Math.round(free / 1_000_000))} MB are free in ${folder}`;
  if (free >= MIN_FREE_BYTES) return good('disk', text);
  return bad('disk', `${text}; the store needs space: free some, or move it (storage.url)`);
}

/** Looks, and says why where that fails. */
export async function attempt(
  area: string,
  look: () => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  try {
    return await look();
  } catch (error) {
    return [bad(area, clearLine(`it could not be looked at: ${messageOf(error)}`))];
  }
}
