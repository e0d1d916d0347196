import type { PathSettings } from '../mapping/mapping.ts';
import type { RequestTarget } from './target.ts';

/** A request to a hook before anything in it is trusted: what a proof may look at besides the headers. */
export interface IncomingHook {
  /** As the sender wrote it, but for tokens, which are masked; not to be logged or kept before the proof. */
  readonly name: string;
  readonly target: RequestTarget;
  /** What the hook's path sets; looked up before the proof, because it may say which proof is wanted. */
  readonly settings: PathSettings;
  /** Of the body as it comes, and of what it unpacks to. */
  readonly maxBodyBytes: number;
  /**
   * The raw body: read on the first call, within the limits of the path; later calls give the same bytes.
   * @throws HookError `body_too_large`, `body_timeout`, `request_aborted`
   */
  readonly body: () => Promise<Buffer>;
}
