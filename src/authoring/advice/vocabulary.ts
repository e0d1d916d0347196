/** What is known of words and values of others, by what a schema is for. */
import { fileLevelKey } from './keys/key-places.ts';
import { MAPPING_WORDS } from './vocabulary/mapping-keys.ts';
import type { SchemaAdvice, ValueHint } from './schema-hints.ts';
import { keyText, type PartFacts, type SchemaName } from '../../base/document/facts.ts';
import { REQUEST_FILE_WORDS } from './vocabulary/request-files.ts';
import { CONFIGURATION_WORDS } from './vocabulary/setting-values.ts';

export const VOCABULARIES: Readonly<Record<SchemaName, SchemaAdvice>> = {
  configuration: CONFIGURATION_WORDS,
  mapping: MAPPING_WORDS,
  'mapping file': { otherFile: fileLevelKey },
  'request file': REQUEST_FILE_WORDS,
  'sender file': {},
};

export const wordsOf = ({ of }: Pick<PartFacts, 'of'>): SchemaAdvice =>
  of === undefined ? {} : VOCABULARIES[of];

/** How a value was meant that is none of those that are taken. */
export function valueHint(facts: PartFacts): ValueHint | undefined {
  const { root, path } = facts;
  return wordsOf(facts).value?.(keyText(path), root.at(path).value, root.at(path.slice(0, -1)).value);
}
