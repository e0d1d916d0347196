import { isAscii } from 'node:buffer';
import { TextDecoder } from 'node:util';
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

export function charsetOf(contentType: string | undefined): string | undefined {
  return /;[ \t]*charset[ \t]*=[ \t]*"?([\w.:-]{1,40})/i.exec(contentType ?? '')?.[1];
}

/** The encoding that XML declares: by its byte order mark, else in its first line. */
export function encodingOfXml(bytes: Buffer): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const begin = bytes.toString('latin1', 0, 200);
  return /^(?:\u00ef\u00bb\u00bf)?\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(begin)?.[1];
}

export const isUtf8Name = (charset: string): boolean => /^(?:utf-?8|us-ascii)$/i.test(charset);

/** Decodes bytes as UTF-8, or by the charset that is said of them. */
export type Decode = (bytes: Buffer) => string;

/**
 * Undefined where the charset is UTF-8, or not known here: most who name one of that kind write UTF-8.
 */
export function decoderOf(charset: string | undefined): Decode | undefined {
  if (charset === undefined || isUtf8Name(charset)) return undefined;
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(charset, { fatal: true });
  } catch {
    return undefined;
  }
  return (bytes) => {
    try {
      return decoder.decode(bytes);
    } catch {
      throw new HookError(
        'invalid_utf8',
        `the body is not in the charset that is said of it (${decoder.encoding})`,
      );
    }
  };
}

const AS_UTF8 =
  'let the sender write it as UTF-8 (in PowerShell -Body ([Text.Encoding]::UTF8.GetBytes($body)), elsewhere the charset utf-8)';

/** Names the encoding by the first bytes, or the first one that is not ASCII, without a word of the text. */
function foundIn(bytes: Buffer): string {
  const [first = 0, second = 0] = bytes;
  const isWide = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (isWide) return 'the body is UTF-16';
  const at = bytes.findIndex((byte) => byte > 0x7f);
  return `the body holds bytes that are not UTF-8 (the first sign outside ASCII is byte ${at + 1}); most likely it is Latin-1 or Windows-1252`;
}
