import type { Exchange, RequestFacts } from './exchange.ts';
import { findHookName } from './target.ts';

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
