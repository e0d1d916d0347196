import type { LocatedValue, Path } from '../../base/document/document.ts';
import type { CompiledTemplate, IgnoredSenders } from './compiled-mapping.ts';
import type { MappingSource } from './mapping-schema.ts';

interface Parts {
  readonly source: Pick<MappingSource, 'ignoreSenders'>;
  readonly located: LocatedValue;
}

/** `ignoreSenders` of a mapping: a list of names, or names with the template that says where the account stands. */
export function compileIgnoredSenders(
  { source, located }: Parts,
  templateAt: (path: Path) => CompiledTemplate | undefined,
): IgnoredSenders | undefined {
  const { ignoreSenders: written } = source;
  if (written === undefined) return undefined;
  const at = located.place(['ignoreSenders']);
  if (!('names' in written)) return { names: byKey(written), at };
  const from = templateAt(['ignoreSenders', 'from']);
  return { names: byKey(written.names), at, ...(from === undefined ? {} : { from }) };
}

function byKey(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [accountKey(name), name.trim()]));
}

/** Accounts are compared without case and without the `@` that people write before a name. */
export function accountKey(name: string): string {
  return name.trim().replace(/^@/, '').toLowerCase();
}
