/* How mappings read the secrets that they name: for who serves, and for who only looks at them. */
import type { LoadedConfig, ReferenceReader, WrittenReference } from '../config/config.ts';

/** Files of secrets need not lie where a configuration is checked. */
export function referencesOf(
  { read, near, fitting, inFile }: ReferenceReader,
  { needSecrets, isSetUp }: { readonly needSecrets: boolean; readonly isSetUp: boolean },
) {
  const others = {
    nearReference: near,
    fittingReference: fitting,
    ...(needSecrets || isSetUp ? { fileReference: inFile } : {}),
  };
  if (needSecrets) return { ...others, resolveReference: read };
  const peek = (of: WrittenReference) => (typeof of === 'string' ? read(of) : undefined);
  return { ...others, peekReference: peek };
}

/** Whether the hook token is set where this runs: then the other secrets are meant to be, too. */
export function isSetUp({ root }: LoadedConfig, { read }: Pick<ReferenceReader, 'read'>): boolean {
  const { value } = root.at(['hooks', 'token']);
  return typeof value === 'string' && /^\$\{\w+\}$/.test(value) && read(value) !== undefined;
}
