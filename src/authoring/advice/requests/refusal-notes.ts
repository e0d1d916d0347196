import { say, write, type Sentence, type StoredFinding } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import { formatPlace } from '../../../base/document/document.ts';
import type { FormatFacts, JsonFacts } from '../../../base/payload/facts.ts';
import { BODY_FORMATS } from '../../../base/payload/payload.ts';
import type { RoutingTable } from '../../../engine/mapping/mapping.ts';
import { formatNote } from '../body-formats.ts';
import type { RefusedRequest } from '../../../service/server/server.ts';
import { findJsonSlip } from '../json-bodies.ts';
import { wordsOf } from './decision-advice.ts';
import { methodFacts } from './method-note.ts';

/**
 * Says what is known of a request that was refused before any mapping was tried. The operator reads it, and
 * it quotes nothing of the request.
 */
export function refusalFinding(refused: RefusedRequest, table: RoutingTable): StoredFinding | undefined {
  const { code, field, headers, facts } = refused;
  if (code === 'no_mapping_matched') return { code: 'unknown_name' };
  if (code === 'method_not_allowed') return methodFacts(refused);
  if ((code !== 'invalid_json' && code !== 'invalid_body') || facts === undefined) return undefined;
  if ('format' in facts) return formatFinding(facts as FormatFacts, headers);
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

function formatFinding(facts: FormatFacts, headers: RefusedRequest['headers']): StoredFinding {
  const sender = SETS_CONTENT_TYPE.find(([header]) => headers[header] !== undefined)?.[0];
  return { code: 'other_format', facts: defined({ ...facts, sender }) };
}

const SETS_CONTENT_TYPE: readonly (readonly [header: string, setting: string])[] = [
  ['x-gitea-event', 'Gitea or Forgejo choose POST Content Type:'],
  ['x-gogs-event', 'Gogs choose Content Type:'],
  ['x-github-event', 'GitHub choose Content type:'],
];

/** Says what to write where the body has another format than its path. */
export function sayFormat(
  path: string,
  { format: found, takes, isWrapped, sender }: NonNullable<StoredFinding['facts']>,
  { mappings }: RoutingTable,
): Sentence | undefined {
  const format = BODY_FORMATS.find((each) => each === found);
  const first = mappings.find(({ match }) => match.path === path);
  if (format === undefined || first === undefined) return undefined;
  const then =
    format === 'text'
      ? say`; the text is then {{payload}}`
      : isWrapped === true
        ? say`, which reads the JSON in its field payload as the body`
        : '';
  const said =
    formatNote(path, format, mappings) ??
    say`${write(`bodyFormat: ${format}`)} in ${first.id} (${formatPlace(first.at)}), beside match${then}, if every request of the path is such; otherwise these need a mapping with a path of their own`;
  const setting = SETS_CONTENT_TYPE.find(([header]) => header === sender)?.[1];
  return setting === undefined || takes !== 'json'
    ? said
    : say`do one of the two: at the webhook in the settings of ${setting} application/json; or ${said}`;
}
