import { formatPlace } from '../document/document.ts';
import type { RoutingTable } from '../mapping/mapping.ts';
import { adviseOnCheck, findAddressCheck } from '../verify/verify.ts';

/** How a path was asked for. */
interface AskedSo {
  readonly method: string;
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What to change where a request came with another method than its path takes; undefined where no mapping names it. */
export function methodNote(
  path: string,
  { method: found, url = '', headers = {} }: AskedSo,
  table: RoutingTable,
): string | undefined {
  const [first, ...more] = table.mappings.filter(({ match }) => match.path === path);
  if (first === undefined) return undefined;
  const setBy = [first, ...more].find(({ settings }) => settings.method === 'GET');
  if (setBy !== undefined) {
    const at = formatPlace(setBy.settingsAt?.method ?? setBy.at);
    return `method: GET of ${setBy.id} (${at}) lets this path take only GET: remove it, or let the sender send GET`;
  }
  const check = found === 'GET' ? checkOf(url, headers) : undefined;
  if (check !== undefined) return adviseOnCheck(check, `${first.id} (${formatPlace(first.at)})`);
  return found === 'GET'
    ? `where the sender can only send GET, write the line method: GET in ${first.id} (${formatPlace(first.at)}), beside match; the query is then the body, so ?text=… is {{text}}`
    : `let the sender send POST, which ${first.id} (${formatPlace(first.at)}) takes`;
}

function checkOf(
  url: string,
  headers: Readonly<Record<string, string>>,
): ReturnType<typeof findAddressCheck> {
  const query = Object.fromEntries(new URLSearchParams(url.slice(url.indexOf('?') + 1)));
  const header = (name: string): string | undefined => headers[name];
  return findAddressCheck({ header, query, member: () => undefined, hasBody: false, onlyName: undefined });
}
