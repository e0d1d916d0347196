/* A conversation that the configuration does not let a mapping write into. */
import { say, write, type Sentence } from '../finding.ts';
import { formatPlace, placeIfWritten, type Place } from '../document/document.ts';
import { singleQuoted } from '../document/facts.ts';
import type { LoadedConfig } from '../config/config.ts';
import type { CompiledMapping } from '../mapping/mapping.ts';

/** What to write where a session key has none of the allowed beginnings; undefined of any other refusal. */
export function prefixNote(
  { root, settings }: Pick<LoadedConfig, 'root' | 'settings'>,
  mapping: CompiledMapping | undefined,
  { code, field }: { readonly code: string | undefined; readonly field: string | undefined },
): { readonly at: Place | undefined; readonly text: Sentence } | undefined {
  const { allowedPrefixes } = settings.hooks.sessionKeys;
  const [prefix] = allowedPrefixes;
  const key = mapping?.sessionKey;
  if (prefix === undefined || key === undefined || code !== 'invalid_field') return undefined;
  // A key of a transform stands elsewhere; one that begins with an expression may have been right.
  const [beginning = ''] = key.source.split('{{', 1);
  const mayFit = allowedPrefixes.some((each) => each.startsWith(beginning) || beginning.startsWith(each));
  if (mapping?.transform !== undefined || (mayFit && field !== 'sessionKey')) return undefined;
  if (allowedPrefixes.some((each) => key.source.startsWith(each))) return undefined;
  return {
    at: placeIfWritten(root, ['hooks', 'sessionKeys', 'allowedPrefixes']),
    text: say`keys of conversations must start with ${prefix}, also those of mappings, and that of ${mapping?.id ?? ''} does not: ${write(`sessionKey: ${singleQuoted(`${prefix}${key.source}`)}`, `at ${formatPlace(key.at)}`)}`,
  };
}
