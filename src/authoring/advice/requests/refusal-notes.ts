import { say, write, type Sentence, type StoredFinding } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import { formatPlace } from '../../../base/document/document.ts';
import type { FormatFacts, JsonFacts } from '../../../base/payload/facts.ts';
import { BODY_FORMATS } from '../../../base/payload/payload.ts';
import type { RoutingTable } from '../../../engine/mapping/mapping.ts';
import type { RefusedRequest } from '../../../service/server/server.ts';
import { findJsonSlip } from '../json-bodies.ts';
import { wordsOf } from './decision-advice.ts';
import { methodFacts } from './method-note.ts';

/**
 * Says what is known of a request that was refused before any mapping was tried. The operator reads it, and
 * it quotes nothing of the request.
 */
export function refusalFinding(refused: RefusedRequest, table: RoutingTable): StoredFinding | undefined {
  const { code, field, facts } = refused;
  if (code === 'no_mapping_matched') return { code: 'unknown_name' };
  if (code === 'method_not_allowed') return methodFacts(refused);
  if ((code !== 'invalid_json' && code !== 'invalid_body') || facts === undefined) return undefined;
  if ('format' in facts) return { code: 'other_format', facts: { ...(facts as FormatFacts) } };
  const found = facts as JsonFacts;
  const known = field !== undefined && isWord(field, table) ? field : undefined;
  const { line, column, expected } = found;
  return {
    code: 'not_json',
    facts: defined({ line, column, expected, field: known, ...findJsonSlip(found) }),
  };
}

/** A name that stands in the mappings may be shown, though a sender chose it. */
const isWord = (word: string, table: RoutingTable): boolean =>
  /^[A-Za-z_]\w{0,60}$/.test(word) && wordsOf(table).has(word);

/** Says what to write where the body has another format than its path. */
export function sayFormat(
  path: string,
  { format: found, isWrapped }: NonNullable<StoredFinding['facts']>,
  { mappings }: RoutingTable,
): Sentence | undefined {
  const format = BODY_FORMATS.find((each) => each === found);
  const own = mappings.filter(({ match }) => match.path === path);
  const first = own.find(({ settingsAt }) => settingsAt?.bodyFormat !== undefined) ?? own[0];
  if (format === undefined || first === undefined) return undefined;
  const { id, at, settingsAt } = first;
  const then =
    format === 'text'
      ? say`; the text is then {{payload}}`
      : isWrapped === true
        ? say`, which reads the JSON in its field payload as the body`
        : '';
  return say`${write(`bodyFormat: ${format}`)} in ${id} (${formatPlace(settingsAt?.bodyFormat ?? at)}), beside match${then}, if every request of the path is such; otherwise these need a mapping with a path of their own`;
}
