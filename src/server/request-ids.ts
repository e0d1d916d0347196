import { randomFillSync, randomUUID } from 'node:crypto';
import type { RequestIds } from './deps.ts';

const BYTES_PER_REQUEST = 12;

/** Draws randomness in blocks: one call of the system's generator serves 340 requests. */
export function createIdSource(): () => RequestIds {
  const pool = Buffer.alloc(4096);
  let used = pool.length;
  return () => {
    if (used + BYTES_PER_REQUEST > pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    const start = used;
    used += BYTES_PER_REQUEST;
    return {
      id: randomUUID(),
      seed: pool.readUInt32LE(start),
      nonce: pool.toString('hex', start + 4, start + 12),
    };
  };
}
