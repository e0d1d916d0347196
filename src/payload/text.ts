import { isAscii } from 'node:buffer';
import type { TextDecoder } from 'node:util';
import { HookError } from '../errors.ts';

/** @throws HookError `invalid_utf8` */
export function decodeUtf8(bytes: Buffer, decoder: TextDecoder): string {
  if (isAscii(bytes)) return bytes.toString('latin1');
  try {
    return decoder.decode(bytes);
  } catch {
    throw new HookError('invalid_utf8', `${foundIn(bytes)}: ${AS_UTF8}`);
  }
}

const AS_UTF8 =
  'let the sender write it as UTF-8 (in PowerShell -Body ([Text.Encoding]::UTF8.GetBytes($body)), elsewhere the charset utf-8)';

/** By its first bytes, or the first one that is not ASCII; it tells nothing of the text. */
function foundIn(bytes: Buffer): string {
  const [first = 0, second = 0] = bytes;
  const isWide = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isWide) return 'the body is UTF-16';
  const at = bytes.findIndex((byte) => byte > 0x7f);
  return `the body holds bytes that are not UTF-8 (the first sign outside ASCII is byte ${at + 1}); most likely it is Latin-1 or Windows-1252`;
}
