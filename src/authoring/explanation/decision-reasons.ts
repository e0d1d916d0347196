/**
 * Says why a request was answered as it was, in the words of the operator's own files. Nothing more is
 * known where the request was not stored.
 */
import {
  joinSentences,
  printSentence,
  quoted,
  say,
  type Finding,
  type Sentence,
  shorten,
} from '../../base/finding.ts';
import {
  emptyKeys,
  remedyOf,
  sayDifference,
  sayFinding,
  type NoteCode,
  requestFinding,
} from '../advice/requests.ts';
import { sayProof } from '../advice/proofs.ts';
import { defined, type JsonValue } from '../../base/json.ts';
import { HOOK_ERRORS, type HookErrorCode } from '../../base/errors.ts';
import { isBuiltInRoute } from '../../engine/hook/hook.ts';
import type { RoutingTable } from '../../engine/mapping/mapping.ts';
import { type DecisionRecord, type MissedMapping } from '../../engine/storage/storage.ts';

/** Says why, and what to change; `table` has the mappings that its findings are about. */
export function reasonNotes(decision: DecisionRecord, table?: RoutingTable): readonly Finding[] {
  const { refusal, missed = [], empty = [], warnings = [], isOlder } = decision;
  const found = findingNotes(decision, table);
  const reasons = found.filter((note) => !isOfTransform(note));
  return [
    ...(isOlder === true ? [OLDER] : []),
    ...reasons,
    ...optional('remedy', decisionRemedy(decision, reasons.length > 0)),
    ...(refusal === undefined ? [] : [refusalNote(refusal)]),
    ...missed.flatMap(missNotes),
    ...empty.map(emptyNote),
    ...emptyKeys(
      empty.map(({ field }) => field),
      warnings,
    ),
    ...warnings.map((warning) => requestFinding('warning', quoted(warning))),
    ...found.filter(isOfTransform),
  ];
}

export const isOfTransform = ({ code }: Finding): boolean => code === 'transform';

const OLDER = requestFinding(
  'older',
  say`from before the upgrade: of such a decision only codes and places are left`,
);

/** Findings of a decision that say why, and those that say what to do; the others say what happened. */
const NOTE_OF_FINDING: Readonly<Record<string, NoteCode>> = {
  not_json: 'detail',
  malformed: 'detail',
  field: 'detail',
  repeat: 'repeat',
  rate: 'remedy',
  address: 'remedy',
  too_long: 'remedy',
  worker: 'remedy',
  tls: 'remedy',
  http2: 'remedy',
  proxy_protocol: 'remedy',
  connect: 'remedy',
  body_limit: 'remedy',
  hooks_off: 'remedy',
  other_format: 'remedy',
  method: 'remedy',
  address_check: 'remedy',
  body_is_list: 'remedy',
  list_read: 'remedy',
  no_account: 'remedy',
  new_event: 'new_event',
  transform_printed: 'transform',
  transform_result: 'transform',
  transform_failed: 'transform',
};

/** Returns findings in their order, but only the codes that are not reported elsewhere. */
export function findingNotes(
  { findings = [], path, mappingId }: DecisionRecord,
  table?: RoutingTable,
  reported?: ReadonlySet<string>,
): readonly Finding[] {
  return findings
    .filter(({ code }) => reported?.has(code) !== true)
    .flatMap((finding) => {
      const text = sayFinding(finding, { path, mappingId, table });
      return optional(NOTE_OF_FINDING[finding.code] ?? 'decision', text);
    });
}

/**
 * Says in one line for a list why a request missed, or what is odd about it; `found` is what the failing leaf of each
 * mapping found, which no decision has.
 */
export function decisionLine(decision: DecisionRecord, found?: ReadonlyMap<string, JsonValue>): string {
  const { refusal, missed = [], outcome, code: error } = decision;
  if (refusal !== undefined) return printSentence(saidOf(refusal));
  const misses = missed.map((miss) => missLine(miss, found?.get(miss.mappingId))).join('; ');
  const notes = findingNotes(decision).filter((note) => !isOfTransform(note));
  const said = printSentence(joinSentences(notes.map(({ message }) => message)));
  // One of the mappings may well mean to leave the request alone.
  if (said !== '') return decision.skippedBy === 'unmatched' && misses !== '' ? `${said}: ${misses}` : said;
  if (misses !== '') return misses;
  const odd = oddLine(decision);
  const isKnown =
    odd === '' && outcome === 'rejected' && error !== undefined && Object.hasOwn(HOOK_ERRORS, error);
  return isKnown ? HOOK_ERRORS[error as HookErrorCode].title : odd;
}

function oddLine({ empty = [], warnings = [] }: DecisionRecord): string {
  const [first] = empty;
  // Each element of a batch renders the same templates.
  const more = new Set(empty.map(({ field, expression }) => `${field} ${expression}`)).size - 1;
  const parts = [
    ...(first === undefined
      ? []
      : [
          `empty: ${first.field}: ${first.expression.trim()}${more > 0 ? ` and ${more} more` : ''}${suggestionText(first.instead)}${first.field === 'sessionKey' ? '; all such requests share one conversation' : ''}`,
        ]),
    ...warnings.map((warning) => warning.replaceAll('_', ' ')),
  ];
  return parts.join(', ');
}

const MAX_LEAF = 100;

function missLine(miss: MissedMapping, found: JsonValue | undefined): string {
  const { mappingId, leaf = '', how, place = '' } = miss;
  const said = sayMiss(leaf.length > MAX_LEAF ? { ...miss, leaf: '' } : miss, found);
  const difference = how === undefined ? '' : say`: ${sayDifference(how)}`;
  return printSentence(say`${mappingId}: ${said}${difference} ${place}`).trim();
}

const optional = (note: NoteCode, text: Sentence | undefined): readonly Finding[] =>
  text === undefined ? [] : [requestFinding(note, text)];

/** Errors of which a finding of the decision says already what to do. */
const SAID_BY_FINDING: ReadonlySet<string> = new Set([
  'invalid_json',
  'rate_limited',
  'body_too_large',
  'malformed_request',
  'method_not_allowed',
  'not_found',
  'no_mapping_matched',
  'mapping_requires_message',
  'mapping_requires_text',
]);

function decisionRemedy(
  { code: error, mappingId, missed, path }: DecisionRecord,
  isSaid: boolean,
): Sentence | undefined {
  // Where no mapping has the name, the list of names says more.
  const isName = error === 'no_mapping_matched' && missed === undefined;
  // The facts about the bytes say what to do.
  const saysRemedy = missed?.some(({ instead, how }) => (instead ?? how) !== undefined) === true;
  // The body of a mapping may have any shape, so the detail says what is wrong.
  const isOwnShape = error === 'invalid_utf8' || (error === 'invalid_body' && !isBuiltInRoute(path));
  const isKnown = isOwnShape || isName || saysRemedy || (isSaid && SAID_BY_FINDING.has(error ?? ''));
  return isKnown ? undefined : remedyOf(error, mappingId !== undefined);
}

function refusalNote(refusal: NonNullable<DecisionRecord['refusal']>): Finding {
  const { scheme, code: reason } = refusal;
  const isOfHooks = scheme === 'token' && OF_HOOK_TOKEN.has(reason);
  const proof = OTHERS[reason] ?? (isOfHooks ? 'hook token' : `proof of ${scheme}`);
  return requestFinding('refusal', saidOf(refusal), { field: proof });
}

const saidOf = ({ code: reason, facts }: NonNullable<DecisionRecord['refusal']>): Sentence =>
  sayProof({ code: reason, ...defined({ facts }) }) ?? quoted(reason);

const OTHERS: Readonly<Record<string, string>> = { challenge: 'challenge', address: 'allowFrom' };
/** Such reasons are about the hook token. A path may ask for a token of its own. */
const OF_HOOK_TOKEN: ReadonlySet<string> = new Set([
  'token-elsewhere',
  'no-verify',
  'query-rejected',
  'no-token',
  'unknown-token',
]);

function emptyNote({
  field,
  expression,
  place,
  instead,
}: NonNullable<DecisionRecord['empty']>[number]): Finding {
  return requestFinding('rendered_empty', say`${expression}${suggestionText(instead)}`, { field, at: place });
}

const suggestionText = (instead: readonly string[] | undefined): string =>
  instead === undefined ? '' : `; the request has ${instead.join(' and ')}`;

function missNotes(missed: MissedMapping): readonly Finding[] {
  const { mappingId, place, how, variable } = missed;
  const about = {
    mapping: { id: mappingId },
    at: place,
    ...(variable === undefined ? {} : { paths: [variable] }),
  };
  return [
    requestFinding('not_held', sayMiss(missed), about),
    ...(how === undefined ? [] : [requestFinding('difference', sayDifference(how), about)]),
  ];
}

/** Says why a mapping missed; `found` is what its failing leaf found, which no decision has. */
function sayMiss(
  { part, leaf, why = 'different', variable = '', instead }: MissedMapping,
  found?: JsonValue,
): Sentence {
  if (leaf === undefined) return say`${part} did not hold`;
  const value = found === undefined ? undefined : shorten(JSON.stringify(found));
  if (part !== 'when') {
    const sent = why === 'missing' ? 'none' : (value ?? 'another');
    return say`${part} must be ${JSON.stringify(leaf)}, and the request had ${sent}`;
  }
  const rule = `when${leaf === '' ? '' : ` ${leaf}`}`;
  if (why === 'missing') return say`${rule} did not hold: ${variable} was not sent${suggestionText(instead)}`;
  if (why === 'unknown')
    return say`${rule} could not be judged${value === undefined ? '' : `: found ${value}`}`;
  return say`${rule} did not hold: ${value === undefined ? 'another value was sent' : `found ${value}`}`;
}
