import { formatPlace } from '../document/document.ts';
import { META } from './request-notes.ts';
import type { RoutingTable } from '../mapping/mapping.ts';

/** What to change where a request came with another method than its path takes; undefined where no mapping names it. */
export function methodNote(
  path: string,
  { method: found, url = '' }: { readonly method: string; readonly url?: string | undefined },
  table: RoutingTable,
): string | undefined {
  const [first, ...more] = table.mappings.filter(({ match }) => match.path === path);
  if (first === undefined) return undefined;
  const setBy = [first, ...more].find(({ settings }) => settings.method === 'GET');
  if (setBy !== undefined) {
    const at = formatPlace(setBy.settingsAt?.method ?? setBy.at);
    return `method: GET of ${setBy.id} (${at}) lets this path take only GET: remove it, or let the sender send GET`;
  }
  if (found === 'GET' && /[?&]hub\.mode=subscribe(?:&|$)/.test(url))
    return `this is how Meta checks the address: write challenge: ${META} in ${first.id} (${formatPlace(first.at)}), beside match; the token is the text that was typed as "Verify token" at Meta`;
  return found === 'GET'
    ? `where the sender can only send GET, write the line method: GET in ${first.id} (${formatPlace(first.at)}), beside match; the query is then the body, so ?text=… is {{text}}`
    : `let the sender send POST, which ${first.id} (${formatPlace(first.at)}) takes`;
}
