import { isAscii, isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

const CP437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0';
const CP850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0';

const GBK = new TextDecoder('gbk');
const EUC_KR = new TextDecoder('euc-kr');

type DecodeLatin1 = (text: string) => string;

const byTable =
  (table: string): DecodeLatin1 =>
  (text) =>
    text.replaceAll(/[\u0080-\u00ff]/g, (sign) => table[sign.charCodeAt(0) - 0x80] as string);

/** The charsets of mails that no browser knows. What is decoded has a character for each byte. */
const RARE: ReadonlyMap<string, DecodeLatin1> = new Map(
  Object.entries<DecodeLatin1>({
    '437': byTable(CP437),
    '850': byTable(CP850),
    'utf-7': (text) =>
      text.replaceAll(/\+([A-Za-z\d+/]*)-?/g, (_, base64: string) => {
        const bytes = Buffer.from(base64, 'base64');
        return base64 === ''
          ? '+'
          : bytes
              .subarray(0, bytes.length & ~1)
              .swap16()
              .toString('utf16le');
      }),
    'hz-gb-2312': (text) =>
      text.replaceAll(/~(?:~|\n|\{((?:[\x21-\x77][\x21-\x7e])*)(?:~\})?)/g, (all, signs?: string) =>
        signs === undefined ? (all === '~~' ? '~' : '') : raised(signs, GBK),
      ),
    'iso-2022-kr': (text) =>
      text
        .replace('\x1b$)C', '')
        // oxlint-disable-next-line no-control-regex -- shift out and shift in
        .replaceAll(/\x0e([^\x0f]*)\x0f?/g, (_, signs: string) => raised(signs, EUC_KR)),
  }),
);

/** Signs that are written in seven bits, of a charset that has them in eight. */
function raised(signs: string, decoder: TextDecoder): string {
  return decoder.decode(Buffer.from(signs, 'latin1').map((byte) => (byte > 0x20 ? byte | 0x80 : byte)));
}

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
  const rare = RARE.get(label?.replace(/^(?:cp|ibm)-?(?=\d)/, '') ?? '');
  if (rare !== undefined) return rare(plain);
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
