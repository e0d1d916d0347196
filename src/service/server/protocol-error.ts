import type { Socket } from 'node:net';
import { describeMalformed, HOOK_ERRORS, HookError, type HookErrorCode } from '../../base/errors.ts';
import { aborted } from './body.ts';
import type { HttpConnection } from './exchange.ts';
import { problemAnswer } from './problem.ts';
import { unknownCoding } from './received.ts';
import type { StoredFinding } from '../../base/finding.ts';

export function protocolError(error: ParserError, isReceivingBody: boolean): HookError {
  const code = error.code ?? '';
  if (code === 'HPE_INVALID_EOF_STATE' || code === 'ECONNRESET') return aborted();
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new HookError('headers_too_large', 'the headers are longer than 16384 bytes');
  }
  // Other findings about the header are about framing that two readers could see differently: those are malformed.
  if (code === 'HPE_INVALID_TRANSFER_ENCODING' && error.reason === 'Request has invalid `Transfer-Encoding`')
    return unknownCoding();
  if (code !== 'ERR_HTTP_REQUEST_TIMEOUT') {
    const found = describeMalformed(code);
    const detail = `the request is not valid HTTP/1.1${found === undefined ? '' : `: ${found}`}`;
    return new HookError('malformed_request', detail);
  }
  return isReceivingBody
    ? new HookError('body_timeout', 'the body did not arrive in time')
    : new HookError('headers_timeout', 'the headers did not arrive in time');
}

/**
 * Answers bytes that are no request. Where a request of this connection is still under way, its answer goes out
 * first and closes the connection; otherwise the error is answered here, without node's response object. Returns
 * whether it was: then nobody else accounts for it.
 */
export function answerProtocolError(
  connection: HttpConnection,
  error: HookError,
  requestId: string,
): boolean {
  if (connection.refused !== undefined && !connection.refused.complete) {
    // The answer went out already; a second one would look like that of the next request.
    connection.socket.destroy();
    return false;
  }
  // An answer that closes the connection is on its way, or its drain is under way with a time limit of its own.
  if (connection.closing) return false;
  connection.closing = true;
  if (connection.open === 0) return endWith(connection.socket, error, requestId);
  if (connection.latest?.req.complete === false) {
    connection.failure = error;
    connection.latest.failBody?.(error);
  }
  return false;
}

function endWith(socket: Socket, error: HookError, requestId: string): boolean {
  if (!socket.writable) {
    socket.destroy();
    return false;
  }
  const answer = problemAnswer(error, requestId);
  const body = answer.body ?? '';
  socket.end(
    `HTTP/1.1 ${answer.status} ${REASONS[error.code] ?? HOOK_ERRORS[error.code].title}\r\n` +
      `x-request-id: ${requestId}\r\ncontent-type: ${answer.contentType}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
  return true;
}

const REASONS: Partial<Record<HookErrorCode, string>> = {
  malformed_request: 'Bad Request',
  request_aborted: 'Bad Request',
  headers_too_large: 'Request Header Fields Too Large',
  headers_timeout: 'Request Timeout',
  not_found: 'Not Found',
  unknown_transfer_coding: 'Not Implemented',
};

/** The error with the bytes that the parser read: they are never shown, and only the first are compared. */
interface ParserError extends NodeJS.ErrnoException {
  readonly reason?: string;
  readonly rawPacket?: Buffer;
}

/** Bytes that begin like this were not meant for this port. */
const OPENINGS: readonly (readonly [bytes: Buffer, found: StoredFinding])[] = [
  [Buffer.from([0x16, 0x03]), { code: 'tls' }],
  [Buffer.from('PRI * HTTP/2'), { code: 'http2' }],
  [Buffer.from('PROXY '), { code: 'proxy_protocol', facts: { version: 1 } }],
  [
    Buffer.from([0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51]),
    { code: 'proxy_protocol', facts: { version: 2 } },
  ],
];

/** What most likely sent bytes that Node's parser could not read, else what is wrong with them; undefined where nothing is known. */
export function findSenderOf(
  { rawPacket, code = '' }: ParserError,
  bytesRead: number,
): StoredFinding | undefined {
  if (bytesRead === 0) return { code: 'no_bytes' };
  const found = OPENINGS.find(([bytes]) => rawPacket?.subarray(0, bytes.length).equals(bytes) === true)?.[1];
  if (found !== undefined || describeMalformed(code) === undefined) return found;
  return { code: 'malformed', facts: { parser: code } };
}
