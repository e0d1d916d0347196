import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { HookError } from '../errors.ts';

const INFLATERS = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
} as const;
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
 * The bytes that were compressed. Inflating ends at the limit, so a body that unpacks to gigabytes costs no more than
 * the limit.
 * @throws HookError `unsupported_encoding`, `body_too_large`, `invalid_body`
 */
export async function inflateBody(
  bytes: Buffer,
  contentEncoding: string | undefined,
  maxBytes: number,
): Promise<Buffer> {
  const compression = compressionOf(contentEncoding);
  if (compression === undefined || bytes.length === 0) return bytes;
  try {
    return await INFLATERS[compression](bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    throw inflateError(error as NodeJS.ErrnoException, compression, maxBytes);
  }
}

function inflateError(
  { code }: NodeJS.ErrnoException,
  compression: Compression,
  maxBytes: number,
): HookError {
  if (code === 'ERR_BUFFER_TOO_LARGE') {
    const message = `the body unpacks to more than the ${maxBytes} bytes this hook takes`;
    return new HookError('body_too_large', message);
  }
  const name = compression === 'deflate' ? 'deflate' : 'gzip';
  return new HookError(
    'invalid_body',
    `the body is not ${name}, as its Content-Encoding says: let the sender compress it, or leave that header out`,
  );
}
