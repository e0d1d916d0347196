import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HookError } from '../../base/errors.ts';
import type { Sentence } from '../../base/finding.ts';
import type { PathSettings } from '../../engine/mapping/mapping.ts';
import type { BodyFormat } from '../../base/payload/payload.ts';
import type { HookRequest } from '../../base/request.ts';
import type { Tracing } from '../../base/telemetry/telemetry.ts';
import type { Evaluation } from '../../engine/hook/hook.ts';
import type { AcceptResult } from '../../engine/storage/storage.ts';
import type { ProofFinding, RefusalReason as SenderReason, Verifier } from '../../engine/verify/verify.ts';
import type { Authentication } from './authenticate.ts';
import type { RecoveredEvent, RequestIds, RequestOutcome, ServerGeneration } from './deps.ts';
import { findHookName, type ReceivedHeaders, type RequestTarget } from './received.ts';

/** One socket with its requests; pipelined requests share it. */
export interface HttpConnection {
  readonly socket: Socket;
  /** Requests received and not yet answered. */
  open: number;
  /** Bytes that it had sent when the latest request came: requests that were read in one go have the same number. */
  readBytes: number;
  /** The request received last; with pipelining, answers go out in the order of requests, so its answer is the last. */
  latest: Exchange | undefined;
  /** True where the latest answer went to a request without a proof. */
  wasUnproved: boolean;
  /** True where no further request is served, for wrong framing or a time limit. */
  closing: boolean;
  /** True where more requests came than may wait for their answers: what follows is not served. */
  flooded: boolean;
  /** True where an answer has `Connection: close`, and node or the drain ends the connection after it. */
  closeSent: boolean;
  /** A request that was refused and answered while the rest of its body is still to come. */
  refused: IncomingMessage | undefined;
  /** The error in the bytes of the latest request before its body was complete. */
  failure: HookError | undefined;
}

/** A hook whose sender is proved, with all of its body. */
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
  /** The hook while its body is not read, for keeping it where that fails. */
  unread?: ReceivedHook;
  /** The event, where it was asked for because its sender could not deliver it. */
  recovered?: RecoveredEvent | undefined;
  /** The format of a body that is not the one of its path; set while requests are recorded. */
  otherFormat?: BodyFormat;
  /** The span of the request, where spans are made and the sender is proved. */
  trace?: ReturnType<Tracing['receive']>;
}

/** Hooks and workers may have a port each. */
export type ServerSide = 'hooks' | 'workers';

export interface Exchange extends RequestFacts {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly connection: HttpConnection;
  /** At which port it came. */
  readonly side: ServerSide;
  readonly target: RequestTarget | undefined;
  /** True where the sender waits for `100 Continue` before it writes its body. */
  readonly expectsContinue: boolean;
  readonly hasBody: boolean;
  isProved: boolean;
  /** Bytes of its body that count as unproved; set by `UnprovedBodies` alone. */
  unprovedBytes: number;
  /** Fails the body; set only while the body is received. */
  failBody: ((error: HookError) => void) | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Absent: no content. */
  readonly body?: string;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Further header names and values, flat. */
  readonly headers?: readonly string[];
}

export interface TokenProof {
  readonly kind: 'proved';
  readonly by: 'token';
  readonly carrier: 'bearer' | 'header' | 'query';
  /** 0 for the current token, n for the n-th of `hooks.previousTokens`. */
  readonly retired: number;
}

export interface SignedProof {
  readonly kind: 'proved';
  readonly by: 'sender';
  readonly scheme: Verifier['scheme'];
  /** 0 for the current secret, n for the n-th after it. */
  readonly retired: number;
  /** The id of the delivery, where the sender signed one. */
  readonly signedId?: string;
  /** Headers that carried a secret: nothing behind the proof sees them. */
  readonly secretHeaders: readonly string[];
}

export type RequestProof = TokenProof | SignedProof;

export interface ProofRefusal {
  readonly kind: 'refused';
  readonly reason: ProofRefusalReason;
  /** Absent where the path asks for the hook token. */
  readonly scheme?: Verifier['scheme'];
  /** The sender's address, as far as trusted proxies vouch for it. */
  readonly address: string;
  /** What the sender reads: `unauthorized`, or `too_many_failures` past the limit of failures. */
  readonly error: HookError;
  /** Why the proof failed, for the operator; absent past the limits of failures and of what is looked into. */
  readonly finding?: ProofFinding;
  /** The finding as a sentence, for the log. */
  readonly why?: Sentence;
}

export type ProofRefusalReason =
  | Extract<Authentication, { kind: 'refused' }>['reason']
  | SenderReason
  /** The path does not take requests from this address. */
  | 'address'
  /** A provider's challenge that is malformed or has a wrong token. */
  | 'challenge';

/** How a request ended: all that its answer, its log line, the metrics and its decision say. */
export interface Ending {
  readonly answer: HttpAnswer;
  readonly outcome: RequestOutcome;
  /** Absent where the request did not fail. */
  readonly error?: HookError;
  /** Absent where the request did not come as far as its proof. */
  readonly proof?: RequestProof | ProofRefusal;
  /** Known once the sender has proved itself: strangers write nothing into logs and decisions. */
  readonly hookName?: string;
  /** Milliseconds in which the sender's proof was judged; absent where none was asked for. */
  readonly proofMs?: number;
  /** Absent where the request did not come as far as mappings. */
  readonly judged?: HookJudgement;
  /** Seconds for which the answer waits for the outcome of the run; absent where the sender did not ask. */
  readonly waitSeconds?: number;
  /** Whether the answer has OpenClaw's form (`waitForCompletion`). */
  readonly completion?: boolean;
}

/** The results of mappings and store, as far as the request came. */
export interface HookJudgement {
  readonly request?: HookRequest;
  readonly evaluation?: Evaluation;
  readonly evaluateMs?: number;
  readonly storeMs?: number;
  /** What was stored; for a repeat, what was stored the first time. */
  readonly result?: AcceptResult;
  /** The id by which a repeat was recognised: its sender signs it, or the log that `recover` asks has it. */
  readonly event?: { readonly id: string; readonly by: 'signed' | 'event' } | undefined;
}

/** A request; one that came over HTTP has a method and a target. */
export type AnyExchange = RequestFacts & Partial<Pick<Exchange, 'req' | 'target' | 'hasBody'>>;

/** The hook name a stranger asked for, where it is a word of the operator's own files. */
export function ownName({
  target,
  generation,
}: Pick<AnyExchange, 'target' | 'generation'>): string | undefined {
  const name = target && findHookName(target.path, generation.hooks.path);
  // A name that misses one by a segment or by letter case is shown, as it says how.
  const isOwn = name !== undefined && (generation.knowsName(name) || generation.isOfName?.(name) === true);
  return isOwn ? name : undefined;
}

/** Most segments of a path that are searched for a hook name. */
const MAX_PARTS = 6;

/** The hook name of the operator's files in which a path outside of `hooks.path` ends. */
export function nameOutside({
  target,
  generation,
}: Pick<AnyExchange, 'target' | 'generation'>): string | undefined {
  const parts = (target?.path ?? '').split('/').filter((part) => part !== '');
  const last = parts.slice(-MAX_PARTS);
  return last.map((_, at) => last.slice(at).join('/')).find((name) => generation.knowsName(name));
}

/** A request to a hook before anything in it is trusted: what a proof may look at besides the headers. */
export interface IncomingHook {
  /** The name with tokens masked; not to be logged or kept before the proof. */
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
