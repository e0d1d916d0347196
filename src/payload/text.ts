import { isAscii } from 'node:buffer';
import type { TextDecoder } from 'node:util';
import { HookError } from '../errors.ts';

/** @throws HookError `invalid_utf8` */
export function decodeUtf8(bytes: Buffer, decoder: TextDecoder): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  try {
    return decoder.decode(bytes);
  } catch {
    throw new HookError('invalid_utf8', 'the body holds bytes that are not UTF-8; send it as UTF-8');
  }
}
