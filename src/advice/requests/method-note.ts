import { formatPlace } from '../../document/document.ts';
import type { CompiledMapping, RoutingTable } from '../../mapping/mapping.ts';
import type { RefusedRequest } from '../../server/server.ts';
import { adviseOnCheck, findAddressCheck } from '../vocabulary/address-checks.ts';

/** What to change where a request came with another method than its path takes; undefined where no mapping names it. */
export function methodNote(
  path: string,
  { method: found, url = '', headers }: Pick<RefusedRequest, 'method' | 'url' | 'headers'>,
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
  if (found === 'GET' && hasBody(headers))
    return `this GET came with a body, and only a POST brings one here: let the sender send POST${postBy(headers['user-agent'])}`;
  return found === 'GET'
    ? `to take GET, write the line method: GET in ${first.id} (${formatPlace(first.at)}), beside match, or choose POST at the sender, where it has that choice; ${readsOf(first, url)}`
    : `let the sender send POST, which ${first.id} (${formatPlace(first.at)}) takes`;
}

const hasBody = (headers: Readonly<Record<string, string>>): boolean =>
  headers['content-type'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** How senders that send GET where nothing else is said are told to send POST. */
const POST_BY: readonly (readonly [agent: RegExp, how: string])[] = [
  [/^HomeAssistant\//, 'in Home Assistant write method: post in the rest_command'],
  [/^curl\//, 'curl sends it with -d as long as neither -G nor -X GET is there'],
  [/^python-requests\//, 'in Python requests.post(…)'],
  [/^(?:axios|node)/, "in JavaScript method: 'POST'"],
];

function postBy(agent = ''): string {
  const how = POST_BY.find(([known]) => known.test(agent))?.[1];
  return how === undefined ? '' : `: ${how}`;
}

const MAX_NAMES = 4;

/** How the fields of the query are read with `method: GET`: both ways, so that a mapping that has one keeps it. */
function readsOf({ at }: CompiledMapping, url: string): string {
  const written = at.source.text.slice(at.start, at.end);
  const own = [...new Set([...written.matchAll(/\bquery\.[\w-]{1,40}/g)].map(([path]) => path))];
  if (own.length > 0) return `what reads ${own.slice(0, MAX_NAMES).join(' and ')} stays as it is`;
  const names = [...new URLSearchParams(url.slice(url.indexOf('?') + 1)).keys()];
  const name = url.includes('?') ? names.find((each) => /^[A-Za-z_]\w{0,30}$/.test(each)) : undefined;
  return `the query is then the body, so ?${name ?? 'text'}=… is {{${name ?? 'text'}}}`;
}

function checkOf(
  url: string,
  headers: Readonly<Record<string, string>>,
): ReturnType<typeof findAddressCheck> {
  const query = Object.fromEntries(new URLSearchParams(url.slice(url.indexOf('?') + 1)));
  const header = (name: string): string | undefined => headers[name];
  return findAddressCheck({ header, query, member: () => undefined, hasBody: false, onlyName: undefined });
}
