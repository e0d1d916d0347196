import type { HookRequest } from '../../base/request.ts';
import { hash } from 'node:crypto';
import { errorFinding, HookError } from '../../base/errors.ts';
import {
  type AcceptResult,
  IDEMPOTENCY_TTL_SECONDS,
  type IdempotencyKey,
} from '../../engine/storage/storage.ts';
import type { ServerStorage } from './deps.ts';
import type { Ending } from './exchange.ts';

const MAX_KEY_CHARS = 255;
/** OpenClaw accepts a key of up to 256 characters, and ignores a longer one. */
const OPENCLAW_MAX_KEY_CHARS = 256;

/** A mailbox reader may go on after a long pause, so its repeats are known for longer than those of senders. */
export const SOURCE_TTL_SECONDS = 30 * 24 * 60 * 60;

/** The `Idempotency-Key` header: undefined where it is absent, the empty string where it is blank. */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  const key = header?.trim();
  if (key !== undefined && key.length > MAX_KEY_CHARS) {
    throw new HookError(
      'invalid_field',
      `the Idempotency-Key header has ${key.length} characters; at most ${MAX_KEY_CHARS} are accepted`,
      { errors: [errorFinding('invalid_field', 'too long', { field: 'Idempotency-Key' })] },
    );
  }
  return key;
}

/**
 * The key of a request to an OpenClaw file: of the two headers and the body's own `idempotencyKey` the first that is
 * neither blank nor too long; undefined where there is none, the empty string where only such ones are. There the same
 * key with another body is another request, so the body is part of it.
 */
export function openClawIdempotencyKey(
  headers: Readonly<Record<string, string>>,
  { payload, bodySha256 }: Pick<HookRequest, 'payload' | 'bodySha256'>,
): string | undefined {
  const own = typeof payload === 'object' && payload !== null && 'idempotencyKey' in payload;
  const sent = [
    headers['idempotency-key'],
    headers['x-openclaw-idempotency-key'],
    own ? payload['idempotencyKey'] : undefined,
  ].flatMap((key) => (typeof key === 'string' ? [key.trim()] : []));
  const key = sent.find((each) => each !== '' && each.length <= OPENCLAW_MAX_KEY_CHARS);
  if (key === undefined) return sent.length === 0 ? undefined : '';
  return `${key}#${bodySha256.slice(0, 32)}`;
}

/** Scope is the hook name: the same key sent to two hooks names two requests. */
export function idempotencyKey(
  hookName: string,
  key: string,
  {
    bodySha256,
    ttlSeconds = IDEMPOTENCY_TTL_SECONDS,
  }: { readonly bodySha256: string; readonly ttlSeconds?: number | undefined },
): IdempotencyKey {
  return { scope: hookName, key, bodySha256, ttlSeconds };
}

/** Longer than any provider sends a delivery again; the longest known is three days. */
const SIGNED_ID_TTL_SECONDS = 604_800;
const NO_BODY = hash('sha256', '');

/**
 * Ids of events of a path, apart from senders' keys: no hook name has a space; stores keep the word of when all of them
 * were signed. A repeat may have another body (a new time, another order of members), so the body does not count.
 */
export function eventIdKey(hookName: string, id: string, ttlSeconds = 0): IdempotencyKey {
  const scope = `signed id ${hookName}`;
  const bound = Math.max(SIGNED_ID_TTL_SECONDS, ttlSeconds);
  return { scope, key: id, bodySha256: NO_BODY, ttlSeconds: bound };
}

interface First {
  readonly bodySha256: string;
  readonly ending: Promise<Ending>;
}

/** What to do with a request whose key is new, and with one whose key was used before. */
interface Ways {
  readonly work: () => Promise<Ending>;
  /** Makes the ending of a repeat from the result of the first request. */
  readonly repeat: (result: AcceptResult) => Ending;
}

/**
 * Lets requests with an idempotency key through one by one. A repeat gets the first one's result, from memory while
 * the first is under way and from the store afterwards; a first that failed leaves no record, so its key is free.
 */
export class RepeatGuard {
  readonly #storage: Pick<ServerStorage, 'findIdempotent'>;
  /** Bounded by the number of connections: each entry is a request under way. */
  readonly #underWay = new Map<string, First>();

  constructor(storage: Pick<ServerStorage, 'findIdempotent'>) {
    this.#storage = storage;
  }

  /** @throws HookError `idempotency_mismatch`; for a repeat in flight also the error of the first one */
  async once(key: IdempotencyKey, nowMs: number, ways: Ways): Promise<Ending> {
    const slot = `${key.scope}\n${key.key}`;
    const underWay = this.#underWay.get(slot);
    if (underWay !== undefined) {
      checkSameBody(underWay, key);
      const { error, judged } = await underWay.ending;
      if (judged?.result === undefined) throw error;
      return ways.repeat({ ...judged.result, duplicate: true });
    }
    const ending = this.#findOrRun(key, nowMs, ways);
    this.#underWay.set(slot, { bodySha256: key.bodySha256, ending });
    try {
      return await ending;
    } finally {
      this.#underWay.delete(slot);
    }
  }

  async #findOrRun(key: IdempotencyKey, nowMs: number, { work, repeat }: Ways): Promise<Ending> {
    const stored = await this.#storage.findIdempotent(key.scope, key.key, nowMs);
    if (stored === undefined) return work();
    checkSameBody(stored, key);
    return repeat({ ...stored.result, duplicate: true });
  }
}

function checkSameBody(first: { readonly bodySha256: string }, key: IdempotencyKey): void {
  if (first.bodySha256 === key.bodySha256) return;
  throw new HookError(
    'idempotency_mismatch',
    'this Idempotency-Key came before with another body; use a new key for a new request',
  );
}
