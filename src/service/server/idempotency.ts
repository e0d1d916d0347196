import type { HookRequest } from '../../base/request.ts';
import { hash } from 'node:crypto';
import { HookError } from '../../base/errors.ts';
import {
  type AcceptResult,
  IDEMPOTENCY_TTL_SECONDS,
  type IdempotencyKey,
} from '../../engine/storage/storage.ts';
import type { ServerStorage } from './deps.ts';

const MAX_KEY_CHARS = 255;
/** OpenClaw takes one more, and goes on without a longer key. */
const THEIR_MAX_KEY_CHARS = 256;

/** The reader of a mailbox goes on after any pause: its repeats are known for longer than those of senders. */
export const SOURCE_TTL_SECONDS = 30 * 24 * 60 * 60;

/** The `Idempotency-Key` header: undefined where it is absent, the empty string where it is blank. */
export function readIdempotencyKey(header: string | undefined): string | undefined {
  const key = header?.trim();
  if (key !== undefined && key.length > MAX_KEY_CHARS) {
    throw new HookError(
      'invalid_field',
      `the Idempotency-Key header has ${key.length} characters; at most ${MAX_KEY_CHARS} are taken`,
      { errors: [{ field: 'Idempotency-Key', message: 'too long' }] },
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
  const key = sent.find((each) => each !== '' && each.length <= THEIR_MAX_KEY_CHARS);
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
 * Signed ids of a path, apart from senders' keys: no hook name holds a space. A repeat may have another body (a new
 * time, another order of members), so the body does not count.
 */
export function signedIdKey(hookName: string, id: string): IdempotencyKey {
  const scope = `signed id ${hookName}`;
  return { scope, key: id, bodySha256: NO_BODY, ttlSeconds: SIGNED_ID_TTL_SECONDS };
}

/** What became of a request that was let through. */
type Attempt = { readonly result: AcceptResult } | { readonly error: HookError };

/** A request whose key was used before: the first one's result stands for it. */
export interface Repeat {
  readonly kind: 'repeat';
  readonly result: AcceptResult;
}

interface First {
  readonly bodySha256: string;
  readonly attempt: Promise<Attempt>;
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

  /**
   * Runs `work` unless the key was used before.
   * @throws HookError `idempotency_mismatch`; for a repeat in flight also the error of the first one
   */
  async once<T extends Attempt>(
    key: IdempotencyKey,
    nowMs: number,
    work: () => Promise<T>,
  ): Promise<T | Repeat> {
    const slot = `${key.scope}\n${key.key}`;
    const underWay = this.#underWay.get(slot);
    if (underWay !== undefined) {
      checkSameBody(underWay, key);
      const first = await underWay.attempt;
      if ('error' in first) throw first.error;
      return repeatOf(first.result);
    }
    const attempt = this.#findOrRun(key, nowMs, work);
    this.#underWay.set(slot, { bodySha256: key.bodySha256, attempt });
    try {
      return await attempt;
    } finally {
      this.#underWay.delete(slot);
    }
  }

  async #findOrRun<T extends Attempt>(
    key: IdempotencyKey,
    nowMs: number,
    work: () => Promise<T>,
  ): Promise<T | Repeat> {
    const stored = await this.#storage.findIdempotent(key.scope, key.key, nowMs);
    if (stored === undefined) return work();
    checkSameBody(stored, key);
    return repeatOf(stored.result);
  }
}

function checkSameBody(first: { readonly bodySha256: string }, key: IdempotencyKey): void {
  if (first.bodySha256 === key.bodySha256) return;
  throw new HookError(
    'idempotency_mismatch',
    'this Idempotency-Key came before with another body; use a new key for a new request',
  );
}

function repeatOf(result: AcceptResult): Repeat {
  return { kind: 'repeat', result: { ...result, duplicate: true } };
}
