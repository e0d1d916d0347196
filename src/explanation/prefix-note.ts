/* A conversation that the configuration does not let a mapping write into. */
import { formatPlace, placeIfWritten, singleQuoted, type Place } from '../document/document.ts';
import type { LoadedConfig } from '../config/config.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';

/** What to write where a session key has none of the allowed beginnings; undefined of any other refusal. */
export function prefixNote(
  { root, settings }: Pick<LoadedConfig, 'root' | 'settings'>,
  mapping: CompiledMapping | undefined,
  detail: string,
): { readonly at: Place | undefined; readonly text: string } | undefined {
  const { allowedPrefixes } = settings.hooks.sessionKeys;
  const [prefix] = allowedPrefixes;
  const key = mapping?.sessionKey;
  if (prefix === undefined || key === undefined || !detail.startsWith('sessionKey must start with'))
    return undefined;
  // A key of a transform stands elsewhere.
  if (mapping?.transform !== undefined || allowedPrefixes.some((each) => key.source.startsWith(each)))
    return undefined;
  return {
    at: placeIfWritten(root, ['hooks', 'sessionKeys', 'allowedPrefixes']),
    text: `keys of conversations must start with ${prefix}, also those of mappings, and that of ${mapping?.id ?? ''} does not: write sessionKey: ${singleQuoted(`${prefix}${key.source}`)} at ${formatPlace(key.at)}`,
  };
}
