import type { Finding, Place } from '../../base/document/document.ts';
import type { Sentence } from '../../base/finding.ts';

/** A `transform` entry of a mapping, limits resolved to their defaults. */
export interface TransformRef {
  /** As written: relative to `hooks.transformsDir`. */
  readonly module: string;
  /** Absent: `default`, else `transform`. */
  readonly export?: string;
  /** 1 to 30000; default 1000. All transforms of one request together get 5 s. */
  readonly timeoutMs: number;
  /** 8 to 128; default 64. */
  readonly memoryMb: number;
  /** 1 to 4194304; default 1048576. */
  readonly maxResultBytes: number;
  /** 0 to 1048576; default 65536. */
  readonly maxLogBytes: number;
  /** State is shared between calls; default false. */
  readonly reuse: boolean;
  /** What the module reads as `process.env`; literals of the mapping. */
  readonly env: Readonly<Record<string, string>>;
  /** The module may use the JIT; default false. */
  readonly jit: boolean;
  /** `context.url` is a `URL`, as OpenClaw's transforms have it; else text. */
  readonly urlObject: boolean;
  readonly at: Place;
}

export interface TransformCall {
  readonly ref: TransformRef;
  /** JSON text of the transform's argument `{payload, headers, query, path, url, now, item?, index?}`; `exact` comes to it. */
  readonly json: string;
  /** Pins `Date`: milliseconds since the epoch. */
  readonly now: number;
  /** Pins `Math.random`: unsigned 32-bit. */
  readonly seed: number;
  /** Pins random bytes and UUIDs; default empty. */
  readonly key?: string;
  /** What is left of the request's transform budget; the smaller of it and `ref.timeoutMs` bounds the call. */
  readonly budgetMs: number;
}

/** A line of `console.*`; payload-derived, so it never enters the service log. */
export interface TransformLogLine {
  readonly level: 'log' | 'info' | 'warn' | 'error' | 'debug' | 'trace';
  readonly text: string;
}

/** A position in the operator's own source (`.ts` where there is one); 1-based. */
export interface MappedPosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export type TransformFailure =
  | 'user-error'
  | 'not-json'
  | 'result-too-large'
  | 'pending-promise'
  | 'timeout'
  | 'memory'
  | 'crashed'
  /** Not run: the module's breaker is open, or the pool is full or unhealthy. */
  | 'deferred'
  | 'load-error';

interface TransformMetrics {
  readonly logs: readonly TransformLogLine[];
  readonly logsDropped: number;
  /** Wall time of the call as the supervisor saw it. */
  readonly tookMs: number;
  readonly cpuMs?: number;
  /** Heap of the isolate, measured on its first calls and then on every sixteenth. */
  readonly heapBytes?: number;
  /** SHA-256 of the linked module that ran. */
  readonly moduleSha256?: string;
}

/** The answer to a call. A failed call never rejects. */
export type TransformReply =
  | (TransformMetrics & {
      readonly kind: 'ok';
      /** JSON text; `undefined` where the transform returned undefined. */
      readonly json: string | undefined;
      /** The result, or one in its array, is an instance of a class: only its own enumerable properties are in `json`. */
      readonly isInstance?: true;
    })
  | (TransformMetrics & {
      readonly kind: 'failed';
      readonly failure: TransformFailure;
      /** For `user-error` the module's own words (payload-derived); else the host's. */
      readonly message: string;
      /** The error's class name, `user-error` only. */
      readonly name?: string;
      /** Mapped stack, wrapper frames dropped, at most 8 KB; payload-derived in its first line. */
      readonly stack?: string;
      readonly position?: MappedPosition;
      /** Whole seconds until another try makes sense; `deferred` only. */
      readonly retryAfterSeconds?: number;
    });

/**
 * The transforms of one generation: modules linked, hashed and pinned. Calls in flight finish on the generation they
 * started with.
 */
export interface Transforms {
  /** Load errors, policy violations, missing exports, heavy top-level work. */
  readonly findings: readonly Finding[];
  /** SHA-256 of every linked module by the name mappings use. */
  readonly hashes: ReadonlyMap<string, string>;
  /** The code of every linked module, with all that it imports, by the name mappings use. */
  readonly code: ReadonlyMap<string, string>;
  /** Absolute paths of all files that were loaded, for watching. */
  readonly files: readonly string[];
  call(call: TransformCall): Promise<TransformReply>;
  /** Says that this generation takes no new requests: workers forget what no other generation uses. Idempotent. */
  release(): void;
}

/** A finding on a module, at the mapping that names it; an error unless `more` says otherwise. */
export const findingOn = (
  { at }: TransformRef,
  code: string,
  message: Sentence,
  more: Pick<Partial<Finding>, 'severity' | 'hint' | 'facts'> = {},
): Finding => ({ severity: 'error', code, message, at, ...more });
