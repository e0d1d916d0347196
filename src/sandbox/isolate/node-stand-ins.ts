/** What transforms written for Node find here under Node's names: harmless parts of it, pure like everything else. */
import { Buffer } from './buffer.ts';
import type { CurrentCall } from './current-call.ts';
import { createHash, createHmac, timingSafeEqual } from './hashes.ts';
import { makeRandom } from './random-bytes.ts';

export interface NodeStandIns {
  readonly globals: Readonly<Record<string, unknown>>;
  /** By the names under which `node:` modules are imported; `names.ts` lists the names of their exports. */
  readonly modules: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export function makeNodeStandIns(current: CurrentCall): NodeStandIns {
  const { randomBytes, randomUUID, getRandomValues } = makeRandom(current);
  const process = {
    get env() {
      return current.env;
    },
  };
  const crypto = { createHash, createHmac, timingSafeEqual, randomBytes, randomUUID, getRandomValues };
  return {
    globals: { Buffer, process, crypto: { randomUUID, getRandomValues } },
    modules: { crypto, buffer: { Buffer } },
  };
}
