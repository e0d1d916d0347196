/*
 * The link by which somebody answers whether a run begins: `<hooks>/approvals/<run id>/<expiry>.<nonce>.<mac>`. The
 * proof is made with a key of the hook token for this purpose alone, over the run and the time until which it may be
 * answered, so a link is good for one run and is worth nothing afterwards. Its digits are formatting on no platform.
 * The store lets only one answer count.
 */
import { createHmac } from 'node:crypto';
import { isSameText } from '../../base/compare-secrets.ts';
import { hooksAddress, type Settings } from '../../engine/config/config.ts';
import type { NewDelivery } from '../../engine/storage/storage.ts';

/** What chat programs take for a part of the address, such as a full stop, may follow. */
const NAME = /^approvals\/([\w-]{1,64})\/(\d{1,16})\.([\da-f]{32})\.([\da-f]{48})(?!\w)/;

type AskedRun = NonNullable<NewDelivery['asks']>;

/** The address of a link; undefined where the service has no public one. */
export function approvalLink(
  asked: AskedRun,
  settings: Pick<Settings, 'server' | 'hooks'>,
): string | undefined {
  const { server, hooks } = settings;
  if (server.publicUrl === undefined || hooks.token === undefined) return undefined;
  return `${hooksAddress(server.publicUrl, settings)}/approvals/${asked.runId}/${asked.expiresAt}.${asked.nonce}.${macOf(asked, hooks.token)}`;
}

/** The run that a link is for, by what stands behind the path of hooks; undefined where no token has made it. */
export function readApprovalName(
  name: string,
  { token = '', previousTokens }: Pick<Settings['hooks'], 'token' | 'previousTokens'>,
): AskedRun | undefined {
  const [, runId, expiry, nonce, mac] = NAME.exec(name) ?? [];
  if (runId === undefined || nonce === undefined || mac === undefined) return undefined;
  const asked = { runId, expiresAt: Number(expiry), nonce };
  const isOurs = [token, ...previousTokens].some((one) => one !== '' && isSameText(mac, macOf(asked, one)));
  return isOurs ? asked : undefined;
}

function macOf({ runId, expiresAt, nonce }: AskedRun, token: string): string {
  const key = createHmac('sha256', token).update('approval link').digest();
  return createHmac('sha256', key).update(`${runId}\n${expiresAt}\n${nonce}`).digest('hex').slice(0, 48);
}
