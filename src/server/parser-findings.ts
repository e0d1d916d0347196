/** Node's parser says what it stumbled over by a code of its own; here it is said in words, and what most likely sent it. */

/** What the parser hands over: never shown, only its first bytes are compared. */
export interface ParserError extends NodeJS.ErrnoException {
  readonly reason?: string;
  readonly rawPacket?: Buffer;
}

const FRAMING = 'how long its body is cannot be told from Content-Length and Transfer-Encoding';
const LINE_ENDS = 'each line of its head must end with CR LF, and only there';
const CHUNKS = 'the chunks of its body are not written as the protocol asks';
const REQUEST_LINE =
  'its first line must be METHOD ADDRESS HTTP/1.1; a space in the address is written as %20';

/** Codes of the parser that node embeds, as it names them. */
const FINDINGS: Readonly<Record<string, string>> = {
  HPE_INVALID_METHOD: 'it does not begin with a method such as POST',
  HPE_INVALID_CONSTANT: REQUEST_LINE,
  HPE_INVALID_VERSION: REQUEST_LINE,
  HPE_INVALID_URL:
    'the address in its first line holds a character that has to be percent-encoded, or does not begin with /',
  HPE_INVALID_HEADER_TOKEN: 'the name or value of a header holds a character that is not allowed there',
  HPE_INVALID_CONTENT_LENGTH: FRAMING,
  HPE_UNEXPECTED_CONTENT_LENGTH: FRAMING,
  HPE_INVALID_TRANSFER_ENCODING: FRAMING,
  HPE_INVALID_CHUNK_SIZE: CHUNKS,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: CHUNKS,
  HPE_STRICT: CHUNKS,
  HPE_CR_EXPECTED: LINE_ENDS,
  HPE_LF_EXPECTED: LINE_ENDS,
  HPE_PAUSED_H2_UPGRADE: 'it is HTTP/2',
};

/** What is wrong with bytes that are no request, in words that quote none of them. */
export function describeMalformed({ code = '' }: ParserError): string {
  const found = Object.hasOwn(FINDINGS, code) ? `: ${FINDINGS[code]}` : '';
  return `the request is not valid HTTP/1.1${found}`;
}

/** What begins like this was not meant for this port. */
const OPENINGS: readonly (readonly [bytes: Buffer, note: string])[] = [
  [
    Buffer.from([0x16, 0x03]),
    'the bytes are TLS: the sender calls https, and this port takes plain http; call it as http, or put a proxy that ends TLS before the service',
  ],
  [
    Buffer.from('PRI * HTTP/2'),
    'the bytes are HTTP/2 without TLS: let the sender or the proxy before the service use HTTP/1.1',
  ],
  [Buffer.from('PROXY '), proxyNote(1)],
  [Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51]), proxyNote(2)],
];

function proxyNote(version: number): string {
  return `the bytes are the PROXY protocol, version ${version}: switch it off at the load balancer, let it send X-Forwarded-For, and name it in server.trustedProxies`;
}

/** What the operator is told of what most likely sent the bytes; undefined where nothing is known. */
export function noteOnBytes({ rawPacket }: ParserError, bytesRead: number): string | undefined {
  if (bytesRead === 0)
    return 'not one byte came: it may be a check that only opens a connection, or a browser';
  return OPENINGS.find(([bytes]) => rawPacket?.subarray(0, bytes.length).equals(bytes) === true)?.[1];
}
