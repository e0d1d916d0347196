/** What most likely sent bytes that Node's parser could not read. */
import { describeMalformed } from '../errors.ts';
import type { StoredFinding } from '../finding.ts';

/** What the parser hands over: never shown, only its first bytes are compared. */
export interface ParserError extends NodeJS.ErrnoException {
  readonly reason?: string;
  readonly rawPacket?: Buffer;
}

/** What begins like this was not meant for this port. */
const OPENINGS: readonly (readonly [bytes: Buffer, found: StoredFinding])[] = [
  [Buffer.from([0x16, 0x03]), { code: 'tls' }],
  [Buffer.from('PRI * HTTP/2'), { code: 'http2' }],
  [Buffer.from('PROXY '), { code: 'proxy_protocol', facts: { version: 1 } }],
  [
    Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51]),
    { code: 'proxy_protocol', facts: { version: 2 } },
  ],
];

/** What most likely sent the bytes, else what is wrong with them; undefined where nothing is known. */
export function findSenderOf(
  { rawPacket, code = '' }: ParserError,
  bytesRead: number,
): StoredFinding | undefined {
  if (bytesRead === 0) return { code: 'no_bytes' };
  const found = OPENINGS.find(([bytes]) => rawPacket?.subarray(0, bytes.length).equals(bytes) === true)?.[1];
  return (
    found ??
    (describeMalformed(code) === undefined ? undefined : { code: 'malformed', facts: { parser: code } })
  );
}
