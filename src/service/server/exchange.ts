import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HookError } from '../../base/errors.ts';
import type { PathSettings } from '../../engine/mapping/mapping.ts';
import type { BodyFormat } from '../../base/payload/payload.ts';
import type { HookRequest } from '../../base/request.ts';
import type { RequestIds, ServerGeneration } from './deps.ts';
import type { ReceivedHeaders } from './received-headers.ts';
import { type RequestTarget, findHookName } from './target.ts';

/** One socket and what is under way on it; pipelined requests share it. */
export interface Connection {
  readonly socket: Socket;
  /** Requests received and not yet answered. */
  open: number;
  /** Bytes it had sent when the latest request came: requests that were read in one go have the same. */
  readBytes: number;
  /** The request received last; with pipelining, answers go out in the order of requests, so its answer is the last. */
  latest: Exchange | undefined;
  /** Its latest answer went to a request without a proof. */
  wasUnproved: boolean;
  /** No further request of this connection is served: its framing or its time is over. */
  closing: boolean;
  /** More requests came than may wait for their answers: what follows is not served. */
  flooded: boolean;
  /** An answer carries `Connection: close`, and node or the drain ends the connection after it. */
  closeSent: boolean;
  /** A request that was refused and answered while the rest of its body is still to come. */
  refused: IncomingMessage | undefined;
  /** What went wrong with the bytes of the latest request before its body was complete. */
  failure: HookError | undefined;
}

/** A hook whose sender is believed, with all of its body. */
export interface ReceivedHook {
  readonly name: string;
  readonly target: Pick<RequestTarget, 'url' | 'query'>;
  readonly body: Buffer;
  /** The body without its compression; default the body. */
  readonly unpacked?: Buffer;
  /** How the path takes its requests; default JSON. */
  readonly settings?: PathSettings;
  /** Headers that carried a secret: mappings do not see them. */
  readonly secretHeaders?: readonly string[];
  /** An id that the sender signed: a repeat is judged by it alone. */
  readonly signedId?: string | undefined;
  /** `Idempotency-Key`; undefined where there is none, empty where it is blank. */
  readonly keyOf: (request: HookRequest) => string | undefined;
  /** How long a repeat under the key is known; default a day. */
  readonly ttlSeconds?: number | undefined;
}

/** What is known of a request before anything is judged, whichever way it came. */
export interface RequestFacts {
  readonly generation: ServerGeneration;
  readonly ids: RequestIds;
  readonly receivedAt: number;
  /** `performance.now()` at the end of the headers. */
  readonly startedAt: number;
  readonly headers: ReceivedHeaders;
  /** Bytes of the body that have arrived; counted by `readBody` alone. */
  bodyBytes: number;
  /** A hook whose body could not be read: nothing else of it reaches those who keep it. */
  unread?: ReceivedHook;
  /** In which format the body was read, where it was not the one of its path; set while requests are recorded. */
  otherFormat?: BodyFormat;
}

/** One request as it came over HTTP. */
export interface Exchange extends RequestFacts {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly connection: Connection;
  readonly target: RequestTarget | undefined;
  /** The sender waits for `100 Continue` before it writes its body. */
  readonly expectsContinue: boolean;
  readonly hasBody: boolean;
  isProved: boolean;
  /** What its body takes up of the share of unproved ones; counted by `UnprovedBodies` alone. */
  heldBytes: number;
  /** Fails the body; there only while it is received. */
  failBody: ((error: HookError) => void) | undefined;
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

/** A request; one that came over HTTP has a method and a target. */
export type Asked = RequestFacts & Partial<Pick<Exchange, 'req' | 'target' | 'hasBody'>>;

/** The hook name a stranger asked for, where it is a word of the operator's own files. */
export function ownName({ target, generation }: Pick<Asked, 'target' | 'generation'>): string | undefined {
  const name = target && findHookName(target.path, generation.hooks.path);
  return name !== undefined && isOwn(name, generation) ? name : undefined;
}

/** Where a request missed a name by a segment or by letter case, its own says how. */
function isOwn(name: string, { knowsName, isOfName }: Asked['generation']): boolean {
  return knowsName(name) || isOfName?.(name) === true;
}

/** Parts of a path that are looked at for a hook name. */
const MAX_PARTS = 6;

/** The hook name of the operator's files in which a path ends that is none of hooks. */
export function nameOutside({
  target,
  generation,
}: Pick<Asked, 'target' | 'generation'>): string | undefined {
  const parts = (target?.path ?? '').split('/').filter((part) => part !== '');
  const last = parts.slice(-MAX_PARTS);
  return last.map((_, at) => last.slice(at).join('/')).find((name) => generation.knowsName(name));
}

/** A request to a hook before anything in it is trusted: what a proof may look at besides the headers. */
export interface IncomingHook {
  /** As the sender wrote it, but for tokens, which are masked; not to be logged or kept before the proof. */
  readonly name: string;
  readonly target: RequestTarget;
  /** What the hook's path sets; looked up before the proof, because it may say which proof is wanted. */
  readonly settings: PathSettings;
  /**
   * The raw body: read on the first call, within the limits of the path; later calls give the same bytes.
   * @throws HookError `body_too_large`, `body_timeout`, `request_aborted`
   */
  readonly body: () => Promise<Buffer>;
  /**
   * What the body unpacks to, within the same limits; the same buffer where it is not packed.
   * @throws HookError as `body` does, `unsupported_encoding`, `invalid_body`
   */
  readonly unpacked: () => Promise<Buffer>;
}
