import { parseJson } from '../json.ts';
import type { HookRequest } from '../request.ts';
import type { EvaluationJson } from './evaluation-json.ts';

/** How a kept request was judged when it came; without prompts. */
export type KeptTrace = Omit<EvaluationJson, 'actions' | 'templates'> & {
  readonly generation: string;
  readonly actions: readonly { readonly kind: string; readonly id: string }[];
  /** Much of it is left out, since it was long. */
  readonly isCut?: true;
};

/** A request that the store kept as JSON text, with how it was judged. */
export function parseKeptRequest({
  json,
}: {
  readonly json: string;
}): HookRequest & { readonly judged?: KeptTrace } {
  return parseJson(json) as unknown as HookRequest & { readonly judged?: KeptTrace };
}
