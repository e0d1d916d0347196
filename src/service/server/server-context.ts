import { TextDecoder } from 'node:util';
import { createPauses } from '../../engine/hook/hook.ts';
import { type AddressFinder, createAddressFinder, createAddressList, type AddressList } from './addresses.ts';
import { Access } from './authenticate.ts';
import { DEFAULT_LIMITS, type RequestIds, type ServerDeps, type ServerLimits } from './deps.ts';
import { LaterRequests } from './later-requests.ts';
import { MAX_PIPELINED } from './pipelined.ts';
import { createReadinessProbe, type ReadinessProbe } from './readiness.ts';
import { RepeatGuard } from './idempotency.ts';
import { describeFault } from './problem.ts';
import { FewPerSecond, PathRates, Tally } from './rates.ts';
import { UnprovedBodies } from './body.ts';
import type { RequestAdvisor } from './advisor.ts';
import type { RequestFacts } from './exchange.ts';
import { randomFillSync, randomUUID } from 'node:crypto';

export interface ServerContext {
  readonly deps: ServerDeps;
  readonly limits: ServerLimits;
  readonly clock: () => number;
  readonly ids: () => RequestIds;
  readonly decoder: TextDecoder;
  readonly proxies: AddressList;
  readonly findAddress: AddressFinder;
  readonly access: Access;
  readonly rates: PathRates;
  readonly faults: FewPerSecond;
  /** Limits for how many requests a second advice is looked for. */
  readonly advices: FewPerSecond;
  /** Limits how many refused or failed requests a second are kept whole, and how many others as shapes. */
  readonly kept: { readonly whole: FewPerSecond; readonly shape: FewPerSecond };
  /** Limits the lines about bytes that are no request and hook names at other paths, as nothing else does. */
  readonly unread: FewPerSecond;
  /** Requests that were refused because their address failed too often. */
  readonly tooManyFailures: Tally<'refused'>;
  readonly unproved: UnprovedBodies;
  /** Requests whose body had to give way to those of others. */
  readonly bodiesFull: Tally<'refused'>;
  /** Connections that are not read further because more requests came on one than may wait for their answers. */
  readonly pipelined: Tally<'stopped'>;
  /** Connections that had to go, and new ones that found no free place. */
  readonly connectionsFull: Tally<'closed' | 'refused'>;
  readonly repeats: RepeatGuard;
  readonly probe: ReadinessProbe;
  /** Resolves in a later turn of the event loop, for one request after the other. */
  readonly pause: () => Promise<void>;
  readonly later: LaterRequests;
  /** Aborts when the server stops: requests that wait are answered at once. */
  readonly stopping: AbortController;
  /** How many requests wait by `Prefer: wait`. */
  waiting: number;
  /** Requests received and not yet answered. */
  open: number;
}

const WHOLE_PER_SECOND = 20;
/** Making a shape takes some microseconds of the main thread: a flood leaves a sample of it. */
const SHAPES_PER_SECOND = 100;

export function createContext(deps: ServerDeps): ServerContext {
  const clock = deps.clock ?? Date.now;
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const proxies = createAddressList(deps.server.trustedProxies);
  const { connections, perAddress } = deps.server.limits;
  const tally = <Name extends string>(none: Record<Name, number>, text: string, more = {}): Tally<Name> =>
    new Tally(none, (counts) => deps.log.warn({ ...counts, ...more }, text));
  return {
    deps,
    limits,
    clock,
    ids: deps.ids ?? createIdSource(),
    decoder: new TextDecoder('utf-8', { fatal: true }),
    proxies,
    findAddress: createAddressFinder(proxies),
    access: new Access({ clock, fetchJson: deps.fetchJson ?? unreachable }),
    rates: new PathRates(),
    faults: new FewPerSecond(),
    advices: new FewPerSecond(),
    kept: { whole: new FewPerSecond(WHOLE_PER_SECOND), shape: new FewPerSecond(SHAPES_PER_SECOND) },
    unread: new FewPerSecond(),
    tooManyFailures: tally(
      { refused: 0 },
      'requests were refused because their senders failed to prove themselves too often',
    ),
    unproved: new UnprovedBodies(limits.unprovedBytes),
    bodiesFull: tally(
      { refused: 0 },
      'requests were refused because bodies whose senders had proved nothing took up 64 MB together',
    ),
    pipelined: tally(
      { stopped: 0 },
      'connections are not read further, because their senders wrote more requests than may wait for their answers',
      { maxPipelined: MAX_PIPELINED },
    ),
    connectionsFull: tally(
      { closed: 0, refused: 0 },
      'too many connections are open; those that were idle longest were closed',
      { connections, perAddress },
    ),
    repeats: new RepeatGuard(deps.storage),
    probe: createReadinessProbe(deps, clock),
    pause: createPauses(),
    later: new LaterRequests(),
    stopping: new AbortController(),
    waiting: 0,
    open: 0,
  };
}

const BYTES_PER_REQUEST = 12;

/** Draws randomness in blocks: a call of the system's generator takes a tenth of what a request costs. */
function createIdSource(): () => RequestIds {
  const pool = Buffer.alloc(4096);
  let used = pool.length;
  return () => {
    if (used + BYTES_PER_REQUEST > pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const start = used;
    used += BYTES_PER_REQUEST;
    const nonce = pool.toString('hex', start + 4, used);
    return { id: randomUUID(), seed: pool.readUInt32LE(start), nonce };
  };
}

function unreachable(): Promise<never> {
  return Promise.reject(new Error('this server was given no way to fetch keys'));
}

/** What is known of mistakes; undefined where it cannot be loaded, as no answer depends on it. */
export async function loadAdvisor(
  { deps }: Pick<ServerContext, 'deps'>,
  { generation, ids }: Pick<RequestFacts, 'generation'> & { readonly ids: Pick<RequestFacts['ids'], 'id'> },
): Promise<RequestAdvisor | undefined> {
  try {
    return await generation.advisor?.();
  } catch (error) {
    const fault = describeFault(error);
    deps.log.error({ requestId: ids.id, fault }, 'what is known of mistakes could not be read');
    return undefined;
  }
}
