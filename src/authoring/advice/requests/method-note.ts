import { say, todo, type Sentence, type StoredFinding } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import { formatPlace } from '../../../base/document/document.ts';
import type { RoutingTable } from '../../../engine/mapping/mapping.ts';
import type { RefusedRequest } from '../../../service/server/server.ts';
import { adviseOnCheck, checkOf, findAddressCheck } from '../vocabulary/address-checks.ts';

type MethodFacts = NonNullable<StoredFinding['facts']>;

/** Describes the sender of a request whose method its path does not accept. */
export function methodFacts({ method, url = '', headers }: RefusedRequest): StoredFinding {
  if (method !== 'GET') return { code: 'method', facts: { found: method } };
  const query = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');
  const check = checkIn(Object.fromEntries(query), headers)?.provider;
  const hasBody = headers['content-type'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const name = [...query.keys()].find((each) => /^[A-Za-z_]\w{0,30}$/.test(each));
  return {
    code: 'method',
    facts: defined({ found: method, check, hasBody: hasBody || undefined, name }),
  };
}

/** Says what to change; undefined where no mapping names the path. */
export function sayMethod(
  path: string,
  { found, check, hasBody, name }: MethodFacts,
  table: RoutingTable,
): Sentence | undefined {
  const [first, ...more] = table.mappings.filter(({ match }) => match.path === path);
  if (first === undefined) return undefined;
  const setBy = [first, ...more].find(({ settings }) => settings.method === 'GET');
  if (setBy !== undefined) {
    const at = formatPlace(setBy.settingsAt?.method ?? setBy.at);
    return say`method: GET of ${setBy.id} (${at}) lets this path take only GET: ${todo}remove it, or let the sender send GET`;
  }
  const place = `${first.id} (${formatPlace(first.at)})`;
  const known = typeof check === 'string' ? checkOf(check) : undefined;
  if (known !== undefined) return adviseOnCheck(known, place);
  if (hasBody === true)
    return say`this GET came with a body, and only a POST brings one here: ${todo}let the sender send POST`;
  if (found === 'HEAD')
    return say`a sender that only asks whether the address is there is answered by the line challenge: {probe: HEAD} in ${place}, beside match`;
  return found === 'GET'
    ? say`where the sender only asks whether the address is there, and sends its events by POST, write the line challenge: {probe: GET} in ${place}, beside match; to take events by GET, write the line method: GET in ${place}, beside match, or choose POST at the sender, where it has that choice; the query is then the body, so ?${String(name ?? 'text')}=… is {{${String(name ?? 'text')}}}`
    : say`let the sender send POST, which ${place} takes`;
}

const checkIn = (
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): ReturnType<typeof findAddressCheck> =>
  findAddressCheck({
    header: (name) => headers[name],
    query,
    member: () => undefined,
    hasBody: false,
    onlyName: undefined,
  });
