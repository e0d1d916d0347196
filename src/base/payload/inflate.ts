import { createGunzip, createInflate } from 'node:zlib';
import { HookError } from '../errors.ts';

/** The most that `maxBodyBytes` can be. */
export const MAX_BODY_BYTES = 67_108_864;

const INFLATERS = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate } as const;
type Compression = keyof typeof INFLATERS;

/** How the body is compressed, as its header says; undefined where it is not. */
function compressionOf(contentEncoding: string | undefined): Compression | undefined {
  const encoding = contentEncoding?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return undefined;
  if (Object.hasOwn(INFLATERS, encoding)) return encoding as Compression;
  throw new HookError(
    'unsupported_encoding',
    'the Content-Encoding of the body is none of gzip, deflate and identity; send it as it is',
  );
}

/**
 * Refuses a body whose compression nobody here knows, before it is read.
 * @throws HookError `unsupported_encoding`
 */
export function checkEncoding(contentEncoding: string | undefined): void {
  compressionOf(contentEncoding);
}

/**
 * The bytes that were compressed; the same buffer where none were. Inflating ends at the limit, so a body that unpacks
 * to gigabytes costs no more than the limit.
 * @param grow Takes how long the result has become, and may throw to end it.
 * @throws HookError `unsupported_encoding`, `body_too_large`, `invalid_body`
 */
export async function inflateBody(
  bytes: Buffer,
  contentEncoding: string | undefined,
  maxBytes: number,
  grow?: (length: number) => void,
): Promise<Buffer> {
  const compression = compressionOf(contentEncoding);
  if (compression === undefined || bytes.length === 0) return bytes;
  const inflating = INFLATERS[compression]();
  inflating.end(bytes);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of inflating as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBytes) throw unpacksToMore(maxBytes);
      grow?.(length);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, length);
  } catch (error) {
    throw error instanceof HookError ? error : notPacked(compression);
  }
}

function unpacksToMore(maxBytes: number): HookError {
  const message = `the body unpacks to more than the ${maxBytes} bytes this hook takes`;
  return new HookError('body_too_large', message);
}

function notPacked(compression: Compression): HookError {
  const name = compression === 'deflate' ? 'deflate' : 'gzip';
  return new HookError(
    'invalid_body',
    `the body is not ${name}, as its Content-Encoding says: let the sender compress it, or leave that header out`,
  );
}
