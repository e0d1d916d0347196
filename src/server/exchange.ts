import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HookError, HookErrorCode } from '../errors.ts';
import type { RequestIds, RequestOutcome, ServerGeneration } from './deps.ts';
import type { ReceivedHeaders } from './headers.ts';
import type { RequestTarget } from './target.ts';

/** One socket and what is under way on it; pipelined requests share it. */
export interface Connection {
  readonly socket: Socket;
  /** Requests received and not yet answered. */
  open: number;
  /** The request received last; with pipelining, answers go out in the order of requests, so its answer is the last. */
  latest: Exchange | undefined;
  /** No further request of this connection is served: its framing or its time is over. */
  closing: boolean;
  /** An answer carries `Connection: close`, and node or the drain ends the connection after it. */
  closeSent: boolean;
  /** A request that was refused and answered while the rest of its body is still to come. */
  refused: IncomingMessage | undefined;
  /** What went wrong with the bytes of the latest request before its body was complete. */
  failure: HookError | undefined;
  /** Fails the body being received, if any. */
  failBody: ((error: HookError) => void) | undefined;
}

/** One request on its way to its answer; what the log line needs is filled in as it is learnt. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly connection: Connection;
  readonly generation: ServerGeneration;
  readonly ids: RequestIds;
  readonly receivedAt: number;
  /** `performance.now()` at the end of the headers. */
  readonly startedAt: number;
  readonly headers: ReceivedHeaders;
  readonly target: RequestTarget | undefined;
  /** The sender waits for `100 Continue` before it writes its body. */
  readonly expectsContinue: boolean;
  readonly hasBody: boolean;
  outcome: RequestOutcome;
  /** Known once the sender is authenticated. */
  hookName: string | undefined;
  mappingId: string | undefined;
  code: HookErrorCode | undefined;
  bodyBytes: number;
  /** The request came as far as mappings and its decision is not yet kept. */
  owesDecision: boolean;
  evaluateMs: number | undefined;
  storeMs: number | undefined;
  /** Transform that failed: module, kind of failure, position. Nothing payload-derived. */
  failedTransform: object | undefined;
  /** Name, code and frames of an unexpected error. */
  fault: object | undefined;
  /** Sender's address; looked up only where it matters. */
  address: string | undefined;
}

/** What is to be sent. */
export interface Answer {
  readonly status: number;
  /** Absent: no content. */
  readonly body?: string;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Further header names and values, flat. */
  readonly headers?: readonly string[];
}
