/** Writes the sentences for the codes and facts that a decision keeps of a request. */
import { inOpenClawFile } from '../openclaw-files.ts';
import {
  quoted,
  say,
  todo,
  write,
  type Sentence,
  type StoredFinding,
  plural,
} from '../../../base/finding.ts';
import { describeMalformed } from '../../../base/errors.ts';
import { formatPlace } from '../../../base/document/document.ts';
import { skipText } from '../../../engine/hook/hook.ts';
import { EXPECTED } from '../../../base/payload/facts.ts';
import type { CompiledMapping, RoutingTable } from '../../../engine/mapping/mapping.ts';
import { sayJsonSlip, type JsonSlip } from '../json-bodies.ts';
import { sayMethod } from './method-note.ts';
import { nearestName } from './near-names.ts';
import { sayFormat } from './refusal-notes.ts';
import { RETURNED_NOTHING } from './refusal-remedy.ts';
import { howRepeated, sayNewEvent } from './repeat-note.ts';
import { BODY_IS_LIST, GITHUB_PING, sayAddressCheck } from './request-notes.ts';
import { sayNoAccount } from './sender-note.ts';

export interface DecidedRequest {
  readonly path: string;
  readonly mappingId?: string | undefined;
  /** The mappings that judged the request, or those of today. Without them less can be said. */
  readonly table?: RoutingTable | undefined;
}

type DecisionFacts = NonNullable<StoredFinding['facts']>;
type Say = (facts: DecisionFacts, about: DecidedRequest, at: string | undefined) => Sentence | undefined;

/** Says one finding. Returns undefined where it adds nothing to what the decision shows. */
export function sayFinding(
  { code, facts = {}, at }: StoredFinding,
  about: DecidedRequest,
): Sentence | undefined {
  const said = Object.hasOwn(SAY, code) ? SAY[code]?.(facts, about, at) : undefined;
  return said && inOpenClawFile(said, firstOf(about)?.at);
}

/** Says all findings, in their order. */
export const sayFindings = (
  findings: readonly StoredFinding[] | undefined,
  about: DecidedRequest,
): readonly Sentence[] => (findings ?? []).flatMap((finding) => sayFinding(finding, about) ?? []);

const firstOf = ({ path, table }: DecidedRequest): CompiledMapping | undefined =>
  table?.mappings.find(({ match }) => match.path === path);

function placeOf(about: DecidedRequest): string | undefined {
  const first = firstOf(about);
  return first && `${first.id} (${formatPlace(first.at)})`;
}

const whoOf = ({ module, index }: DecisionFacts): string =>
  index === undefined ? String(module) : `${String(module)}[${String(index)}]`;

/** Why an event has no turn. */
const WITHOUT: Readonly<Record<string, Sentence>> = {
  waiting: say`no conversation had one of its keys when it came: it goes to the first that gets one, or ends without a run (conversation.waitSeconds)`,
  none: say`no conversation has one of its keys, and its mapping begins none (conversation.start): nothing was made`,
  own: say`it tells of what an agent opened itself: its key was added, and it has no turn`,
  mark: say`ignoreSenders of the mapping names its account, and no mark in it counts: nothing was made`,
};

const SAY: Readonly<Record<string, Say>> = {
  body_limit: sayLimit,
  rate: ({ perMinute }, about) =>
    say`rate of ${placeOf(about) ?? `the mappings of ${about.path}`} takes ${String(perMinute)} a minute and refuses the others: ${write('limits: {runsPerHour: N}', 'in its place', 'to take all of them')}, N being how many runs may begin in an hour; the others wait in the queue`,
  address: ({ hooks, name }, { table }) => {
    const place = name === undefined ? undefined : (placeOf({ path: String(name), table }) ?? name);
    return place === undefined
      ? say`hooks are below ${String(hooks)} (hooks.path): senders post to ${String(hooks)}/NAME`
      : say`hooks are below ${String(hooks)} (hooks.path): for ${String(place)} the sender posts to ${String(hooks)}/${String(name)}`;
  },
  too_long: ({ what, most }) =>
    say`no ${String(what)} of more than ${String(most)} characters is looked at: ${todo}let the sender write what is long into the body`,
  hooks_off: () => say`hooks.enabled is not true: ${write('enabled: true', 'below hooks')}`,
  worker: () => say`this service takes no hooks (--role worker): ${todo}send them to one of another role`,
  tls: () =>
    say`the bytes are TLS: the sender calls https, and this port takes plain http; ${todo}call it as http, or put a proxy that ends TLS before the service`,
  http2: () =>
    say`the bytes are HTTP/2 without TLS: ${todo}let the sender or the proxy before the service use HTTP/1.1`,
  proxy_protocol: ({ version }) =>
    say`the bytes are the PROXY protocol, version ${String(version)}: ${todo}switch it off at the load balancer, let it send X-Forwarded-For, and name it in server.trustedProxies`,
  no_bytes: () => say`not one byte came: it may be a check that only opens a connection, or a browser`,
  malformed: ({ parser }) => {
    const said = describeMalformed(String(parser));
    return said === undefined ? undefined : quoted(said);
  },
  connect: () =>
    say`the sender asked with CONNECT, as one asks a proxy: ${todo}remove the service from its proxy settings`,
  not_json: ({ line, column, expected, field, ...slip }) => {
    const hint =
      'slip' in slip ? sayJsonSlip(slip as unknown as JsonSlip, field as string | undefined) : undefined;
    const wanted = EXPECTED[String(expected) as keyof typeof EXPECTED];
    return say`the body is not JSON at line ${String(line)}, column ${String(column)}: expected ${wanted}${hint === undefined ? '' : say`; ${hint}`}`;
  },
  field: ({ field }) => say`it is about ${String(field)}`,
  other_format: (facts, { path, table }) => table && sayFormat(path, facts, table),
  unknown_name: (_, { path, table }) => {
    const near = table === undefined ? undefined : nearestName(path, table);
    return near && say`the hook name ${near.message} (${near.facts.at})`;
  },
  method: (facts, { path, table }) => table && sayMethod(path, facts, table),
  skipped: (facts) => say`skipped by ${skipText(facts as unknown as Parameters<typeof skipText>[0])}`,
  repeat: (facts) => say`a repeat, by ${howRepeated(facts)}: nothing new was made`,
  new_event: sayNewEvent,
  debounce: ({ seconds, runs = 1, joined }) => {
    const which =
      Number(runs) > 1
        ? say`each of ${String(runs)} runs`
        : joined === undefined
          ? 'the run'
          : say`joined the run ${String(joined)}, which`;
    return say`debounce: ${which} begins when no event of its key came for ${String(seconds)} s`;
  },
  no_conversation: ({ without }) => WITHOUT[String(without)],
  further: ({ mappings }) => say`also taken by ${String(mappings)}`,
  returned_nothing: ({ module }) => say`transform ${String(module)}: ${RETURNED_NOTHING}`,
  transform_printed: ({ lines, ...facts }) =>
    say`${whoOf(facts)} wrote ${plural(Number(lines), 'line')} to the console`,
  transform_result: ({ key, ...facts }) =>
    say`${whoOf(facts)} wrong-result${key === undefined ? '' : `: "${String(key)}" is a key of the mapping, to be written there, beside transform`}`,
  transform_failed: ({ failure, ...facts }, _, at) =>
    say`${whoOf(facts)} ${String(failure)}${at === undefined ? '' : ` at ${at}`}`,
  body_is_list: () => BODY_IS_LIST,
  list_read: ({ list }) =>
    say`${String(list)} is a list: ${write(`forEach: ${String(list)}`, undefined, 'for one run per element')}`,
  address_check: ({ provider }) => sayAddressCheck(String(provider)),
  github_ping: () => GITHUB_PING,
  no_account: (_, { mappingId, table }) => {
    const mapping = table?.mappings.find(({ id }) => id === mappingId);
    return mapping?.ignoreSenders && say`ignoreSenders: ${sayNoAccount(mapping)}`;
  },
};

const SET_BY: Readonly<Record<string, (path: string) => Sentence>> = {
  mapping: (path) => say`maxBodyBytes of the mappings of ${path}`,
  hooks: () => say`hooks.maxBodyBytes`,
  preset: (path) => say`the preset of ${path}; maxBodyBytes of its mappings sets another`,
};

const MAX_BODY_BYTES = 67_108_864;

/** Which key sets the limit of a body, and what would be enough for this one. */
function sayLimit({ setBy, bytes = 0 }: DecisionFacts, { path }: DecidedRequest): Sentence {
  const size = Number(bytes);
  const enough = size > 0 && size <= MAX_BODY_BYTES ? 2 ** Math.ceil(Math.log2(size)) : undefined;
  const enoughText =
    enough === undefined ? '' : say`; this body has ${size} bytes: ${write(`maxBodyBytes: ${enough}`)} there`;
  return say`the limit is set by ${SET_BY[String(setBy)]?.(path) ?? ''}${enoughText}`;
}
