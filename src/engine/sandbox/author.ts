/** What authors of transforms import from `sluice`. Stands alone: it is also checked inside integrators' projects. */

/** What a transform is called with. */
// oxlint-disable-next-line typescript/no-explicit-any -- a webhook's body has whatever shape its sender gave it
export interface TransformContext<Payload = any> {
  /** The parsed body: always untrusted. */
  readonly payload: Payload;
  /** Names in lower case; several values joined with `, `; without the token. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Several values joined with `, `; without the token. */
  readonly query: Readonly<Record<string, string | undefined>>;
  /** The hook name, without outer slashes. */
  readonly path: string;
  /** Path and query as received, without the token. */
  readonly url: string;
  /** When the request arrived, ISO 8601; `new Date()` gives the same instant. */
  readonly now: string;
  /**
   * The exact text of a number in the payload: `exact(payload.order, 'id')` is `'820982911946154508'` where
   * `payload.order.id` is the nearest JavaScript number, 820982911946154500. Undefined where there is no number.
   */
  exact(holder: object, key: string | number): string | undefined;
  /** The element of a `forEach`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as the payload
  readonly item?: any;
  /** 0-based position of the element. */
  readonly index?: number;
}

/** What a transform may say about an agent run or a notification; what it leaves out stays as the mapping says. */
export interface AgentResult {
  kind?: 'agent' | 'notify';
  message?: string | null;
  name?: string | null;
  sessionKey?: string | null;
  wakeMode?: 'now' | 'next-heartbeat' | null;
  deliver?: boolean | null;
  channel?: string | null;
  to?: string | null;
  model?: string | null;
  thinking?: string | null;
  timeoutSeconds?: number | null;
  agentId?: string | null;
  /** Keys of its conversation, beside those of the mapping; only where that has `conversation`. */
  keys?: readonly string[] | null;
}

/** What a transform may say about a wake. */
export interface WakeResult {
  kind?: 'wake';
  text?: string | null;
  mode?: 'now' | 'next-heartbeat' | null;
}

/**
 * What a transform returns: an object is merged over what the mapping made, an array makes several actions, `null`
 * skips the request (204), `undefined` changes nothing.
 */
export type TransformResult =
  AgentResult | WakeResult | readonly (AgentResult | WakeResult | null)[] | null | undefined | void;

/** A transform; it may be async, although there is nothing in the sandbox to wait for. */
// oxlint-disable-next-line typescript/no-explicit-any -- as the payload
export type Transform<Payload = any> = (
  context: TransformContext<Payload>,
) => TransformResult | Promise<TransformResult>;

/** Gives a transform its types: `export default defineTransform<Push>(({ payload }) => ({ … }))`. Returns it as it is. */
// oxlint-disable-next-line typescript/no-explicit-any -- as the payload
export function defineTransform<Payload = any>(transform: Transform<Payload>): Transform<Payload> {
  return transform;
}
