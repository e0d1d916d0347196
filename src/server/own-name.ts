import type { Exchange, RequestFacts } from './exchange.ts';
import { findHookName } from './target.ts';

/** A request; one that came over HTTP has a method and a target. */
export type Asked = RequestFacts & Partial<Pick<Exchange, 'req' | 'target' | 'hasBody'>>;

/** The hook name a stranger asked for, where it is a word of the operator's own files. */
export function ownName({ target, generation }: Pick<Asked, 'target' | 'generation'>): string | undefined {
  const name = target && findHookName(target.path, generation.hooks.path);
  return name !== undefined && generation.knowsName(name) ? name : undefined;
}
