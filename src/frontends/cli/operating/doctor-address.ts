import { hooksAddress, type LoadedConfig } from '../../../engine/config/config.ts';
import type { DecisionRecord, Storage } from '../../../engine/storage/storage.ts';
import { isoTime } from '../../../engine/storage/facts.ts';
import { connectionCode } from '../../../base/outgoing/outgoing.ts';
import type { Generation } from '../../../service/generation/generation.ts';
import type { Check } from './doctor-machine.ts';
import { soon } from './store-tasks.ts';

const TIMEOUT_MS = 10_000;
/** A service writes down what it answered to a stranger within about a second. */
const WRITTEN_MS = 4_000;

/**
 * Calls the address that senders call, as a stranger does, without the token: an answer is that of this service where its
 * store knows the id of the request. No path is there for this alone.
 */
export async function checkAddress(
  {
    config: { settings },
    table,
  }: { readonly config: LoadedConfig; readonly table: Generation['table'] | undefined },
  storage: Pick<Storage, 'findDecision' | 'listDecisions'> | undefined,
): Promise<Check> {
  const { publicUrl } = settings.server;
  const last = storage && (await lastProved(storage));
  const verify = last && table?.settingsOf(last.path).verify?.settings.scheme;
  const came =
    last === undefined
      ? 'no request with a proof came yet'
      : `the last request with a proof came ${isoTime(last.receivedAt)} to /${last.path} (${verify ?? 'hook token'})`;
  const said = (ok: boolean, text: string): Check => ({ area: 'address', ok, text: `${text}; ${came}` });
  if (publicUrl === undefined) return said(true, 'server.publicUrl is not set: no public address was tried');
  const { origin } = new URL(publicUrl);
  const answer = await askAsStranger(`${hooksAddress(publicUrl, settings)}/wake`);
  if ('problem' in answer)
    return said(
      true,
      `${origin} cannot be reached from this machine (${answer.problem}); from outside it may`,
    );
  const { id } = answer;
  const known = storage && id !== null && (await soon(() => storage.findDecision(id), WRITTEN_MS));
  if (known) return said(true, `this service is reached by way of ${origin} from here`);
  const what = `${origin} is answered by something else than a service on this store (status ${answer.status})`;
  return said(false, `${what}: start the service, or correct server.publicUrl and what passes requests on`);
}

async function lastProved(storage: Pick<Storage, 'listDecisions'>): Promise<DecisionRecord | undefined> {
  const decisions = await storage.listDecisions({ limit: 100 });
  return decisions.find(
    ({ outcome, code }) => outcome !== 'rejected' || (code !== undefined && !UNPROVED.has(code)),
  );
}

/** With these codes a request was refused before its sender was proved. */
const UNPROVED: ReadonlySet<string> = new Set([
  'unauthorized',
  'too_many_failures',
  'not_found',
  'malformed_request',
]);

type Asked = { readonly status: number; readonly id: string | null } | { readonly problem: string };

/** Asks without a token; never rejects. */
export async function askAsStranger(url: string): Promise<Asked> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    return { status: response.status, id: response.headers.get('x-request-id') };
  } catch (error) {
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    return {
      problem: isLate
        ? `no answer within ${TIMEOUT_MS / 1000} s`
        : (connectionCode(error) ?? 'the connection failed'),
    };
  }
}
