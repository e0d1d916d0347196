import type { JsonFacts } from '../../payload/facts.ts';
import { BODY_FORMATS } from '../../payload/payload.ts';
import type { RoutingTable } from '../../mapping/mapping.ts';
import { formatNote } from '../body-formats.ts';
import type { RefusedRequest } from '../../server/server.ts';
import { jsonHint } from '../json-bodies.ts';
import { wordsOf } from './decision-advice.ts';
import { methodNote } from './method-note.ts';
import { nearName } from './near-names.ts';

/** What to change where a request was refused before mappings saw it; for the operator, with nothing that came. */
export const refusalNote = (refused: RefusedRequest, table: RoutingTable): string | undefined =>
  BY_CODE[refused.code]?.(refused, table);

const BY_CODE: Partial<
  Readonly<
    Record<RefusedRequest['code'], (refused: RefusedRequest, table: RoutingTable) => string | undefined>
  >
> = {
  invalid_json: jsonNote,
  invalid_body: formatOf,
  no_mapping_matched: ({ name }, table) => unknownNameNote(name, table),
  method_not_allowed: (refused, table) => methodNote(refused.name, refused, table),
};

function jsonNote(refused: RefusedRequest, table: RoutingTable): string | undefined {
  const { detail, field, place, headers, facts } = refused;
  if (facts !== undefined)
    return jsonHint(facts as JsonFacts, field !== undefined && isWord(field, table) ? field : undefined);
  const format = /bodyFormat: \w+/.exec(detail)?.[0];
  const then =
    format === 'bodyFormat: text' ? '; the text is then {{payload}}' : (UNWRAPPED.exec(detail)?.[0] ?? '');
  const write =
    formatOf(refused, table) ?? (format && place && `write ${format} in ${place}, beside match${then}`);
  const sender = SETS_CONTENT_TYPE.find(([header]) => headers[header] !== undefined)?.[1];
  if (write === undefined || sender === undefined || !detail.includes('takes JSON')) return write;
  return `do one of the two: at the webhook in the settings of ${sender} application/json; or ${write}`;
}

/** Whether a name stands in the mappings, so that it may be told though a sender chose it. */
const isWord = (word: string, table: RoutingTable): boolean =>
  /^[A-Za-z_]\w{0,60}$/.test(word) && wordsOf(table).has(word);

/** What to write where the body is of another format than its path; the detail names the one that came. */
function formatOf({ detail, name }: RefusedRequest, { mappings }: RoutingTable): string | undefined {
  const found = /bodyFormat: (\w+)/.exec(detail)?.[1];
  const format = BODY_FORMATS.find((each) => each === found);
  return format && formatNote(name, format, mappings);
}

/** What a path that takes forms does with one that wraps JSON. */
const UNWRAPPED = /, which reads the JSON in its field payload as the body$/;

/** Senders whose webhooks have the content type as a setting, and what they call it. */
const SETS_CONTENT_TYPE: readonly (readonly [header: string, setting: string])[] = [
  ['x-gitea-event', 'Gitea or Forgejo choose POST Content Type:'],
  ['x-gogs-event', 'Gogs choose Content Type:'],
  ['x-github-event', 'GitHub choose Content type:'],
];

/** The hook name that was probably meant by one that no mapping has. */
function unknownNameNote(name: string, table: RoutingTable): string | undefined {
  const near = nearName(name, table);
  return near && `the hook name ${near}`;
}
