import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

/**
 * The text of a part of a mail, by the charset that it names. Without one that is known it is UTF-8 if it is valid,
 * ISO-2022-JP by its escapes, what the HTML says of itself, else Windows-1252. Undefined where all of it is ASCII, or
 * nothing is known of its charset but a name.
 */
export function textOfCharset(
  bytes: Buffer,
  declared: string | undefined,
  isHtml: boolean,
): string | undefined {
  const label = /[\w.:-]+/.exec(declared ?? '')?.[0].toLowerCase();
  if (label !== undefined && isKnown(label)) return decode(bytes, label);
  const plain = bytes.toString('latin1');
  // The bytes of ISO-2022-JP are ASCII, and so valid UTF-8.
  // oxlint-disable-next-line no-control-regex -- the escapes of the charset
  if (/\x1b(?:\$[@B]|\([JI])/.test(plain)) return decode(bytes, 'iso-2022-jp');
  if (isAscii(bytes)) return undefined;
  if (isUtf8(bytes) || isCutUtf8(bytes)) return decode(bytes, 'utf-8');
  if (label !== undefined) return undefined;
  const meta = isHtml ? /<meta\s[^>]{0,200}?charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(plain)?.[1] : undefined;
  return decode(bytes, meta !== undefined && isKnown(meta) && !/^utf/i.test(meta) ? meta : 'windows-1252');
}

/** A long mail may have been cut within a character; Latin text that ends with one has none before it. */
function isCutUtf8(bytes: Buffer): boolean {
  const last = bytes.subarray(-3).findLastIndex((byte) => byte >= 0xc0);
  const before = bytes.subarray(0, Math.max(0, bytes.length - 3) + Math.max(0, last));
  return last >= 0 && isUtf8(before) && !isAscii(before);
}

const decode = (bytes: Buffer, label: string): string => new TextDecoder(label).decode(bytes);

function isKnown(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== '';
  } catch {
    return false;
  }
}
