/**
 * Random bytes of a call: HMAC-SHA-256 of a counter under a key that the request brings along. The same request gives
 * the same bytes for ever, so whoever knows it knows them: identifiers, not secrets.
 */
import { Buffer } from './buffer.ts';
import type { CurrentCall } from './current-call.ts';
import { hmacSha256 } from './hashes.ts';
import { encodeUtf8 } from './utf8.ts';

const MAX_BYTES = 65_536;

/** `crypto` as browsers have it, as far as it needs no secrets; and `randomBytes` as Node has it. */
export function makeRandom(current: CurrentCall) {
  const fill = (bytes: Uint8Array) => {
    const key = encodeUtf8(current.pins.key);
    for (let at = 0; at < bytes.length; at += 32) {
      const block = hmacSha256(key, encodeUtf8(String(current.pins.drawn)));
      current.pins.drawn += 1;
      bytes.set(block.subarray(0, Math.min(32, bytes.length - at)), at);
    }
  };
  return {
    getRandomValues<View extends ArrayBufferView>(view: View): View {
      if (view.byteLength > MAX_BYTES)
        throw new RangeError(`getRandomValues fills at most ${MAX_BYTES} bytes`);
      fill(new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset, view.byteLength));
      return view;
    },
    randomBytes(size: number): Buffer {
      if (!(size >= 0 && size <= MAX_BYTES))
        throw new RangeError(`randomBytes gives at most ${MAX_BYTES} bytes`);
      const bytes = new Buffer(size);
      fill(bytes);
      return bytes;
    },
    /** Version 4 of RFC 9562. */
    randomUUID(): string {
      const bytes = new Buffer(16);
      fill(bytes);
      bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
      bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
      const hex = bytes.toString('hex');
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
        '-',
      );
    },
  };
}
