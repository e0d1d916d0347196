/* Why a request was answered as it was, in the words of the operator's own files: all there is where it was not kept. */
import { emptyKeyNotes, keptWarning, remedyOf, type EvaluationNote } from '../advice/requests.ts';
import { type DecisionRecord, type MissedMapping } from '../storage/storage.ts';

/** Says why, and what to change. */
export function reasonNotes(decision: DecisionRecord): readonly EvaluationNote[] {
  const { refusal, note, missed = [], empty = [], warnings = [], transformNotes = [] } = decision;
  const remedy = decisionRemedy(decision);
  // What a stranger is told is the same for every refusal.
  const told = refusal === undefined ? decision.detail : undefined;
  return [
    ...optional('detail', told),
    ...optional('decision', note),
    ...optional('remedy', remedy),
    ...optional('refusal', refusal && refusalText(refusal)),
    ...missed.flatMap(missNotes),
    ...empty.map(emptyNote),
    ...emptyKeyNotes(
      empty.map(({ field }) => field),
      warnings,
    ),
    ...warnings.map((warning): EvaluationNote => ({ code: 'warning', text: keptWarning(warning) })),
    ...transformNotes.map((text): EvaluationNote => ({ code: 'transform', text })),
  ];
}

const optional = (code: EvaluationNote['code'], text: string | undefined): readonly EvaluationNote[] =>
  text === undefined || text === '' ? [] : [{ code, text }];

/** Where a note is there, it says what to do. */
const NOTED: ReadonlySet<string> = new Set([
  'rate_limited',
  'body_too_large',
  'malformed_request',
  'method_not_allowed',
  'not_found',
  'no_mapping_matched',
  'mapping_requires_message',
  'mapping_requires_text',
]);

/** What to do about a code, unless what is known of the request says more. */
function decisionRemedy({
  code,
  mappingId,
  missed,
  note,
  detail = '',
  path,
}: DecisionRecord): string | undefined {
  // Where no mapping has the name, the names there are say more.
  const isName = code === 'no_mapping_matched' && missed === undefined;
  // What is known of the bytes says what to do about them.
  const isTold = missed?.some(({ instead, how }) => (instead ?? how) !== undefined) === true;
  // Where the body stops being JSON, or what it is, says what to correct.
  const isPlaced = code === 'invalid_json' && /at line|path takes/.test(detail);
  // The body of a mapping may have any shape: what is wrong with it is something else, which the detail says.
  const isOwnShape =
    code === 'invalid_utf8' || (code === 'invalid_body' && path !== 'wake' && path !== 'agent');
  const isKnown = isOwnShape || isName || isTold || isPlaced || (note !== undefined && NOTED.has(code ?? ''));
  return isKnown ? undefined : remedyOf(code, mappingId !== undefined);
}

function refusalText({ scheme, code, text }: NonNullable<DecisionRecord['refusal']>): string {
  const isOfHooks = scheme === 'token' && OF_HOOK_TOKEN.has(code);
  return `${OTHERS[code] ?? (isOfHooks ? 'hook token' : `proof of ${scheme}`)}: ${text}`;
}

/** What was looked at before the proof. */
const OTHERS: Readonly<Record<string, string>> = { challenge: 'challenge', address: 'allowFrom' };
/** What is said of the hook token; a path may ask for a token of its own. */
const OF_HOOK_TOKEN: ReadonlySet<string> = new Set([
  'token-elsewhere',
  'no-verify',
  'query-rejected',
  'no-token',
  'unknown-token',
]);

/** An expression of a template that found nothing. */
function emptyNote({
  field,
  expression,
  place,
  instead,
}: NonNullable<DecisionRecord['empty']>[number]): EvaluationNote {
  return { code: 'rendered_empty', text: `${expression}${insteadText(instead)}`, field, at: place };
}

const insteadText = (instead: string | undefined): string =>
  instead === undefined ? '' : `; the request has ${instead}`;

/** A candidate, and where it failed. */
function missNotes(missed: MissedMapping): readonly EvaluationNote[] {
  const { mappingId, place, how, variable } = missed;
  const about = {
    mapping: { id: mappingId },
    ...(place === undefined ? {} : { at: place }),
    ...(variable === undefined ? {} : { paths: [variable] }),
  };
  return [
    { code: 'not_held', text: missText(missed), ...about },
    ...(how === undefined ? [] : [{ code: 'difference', text: how, ...about } as const]),
  ];
}

function missText({ part, leaf, why, variable = '', instead }: MissedMapping): string {
  if (leaf === undefined) return `${part} did not hold`;
  if (part !== 'when') {
    const found = why === 'missing' ? 'and the request had none' : 'and the request had another';
    return `${part} must be ${JSON.stringify(leaf)}, ${found}`;
  }
  const what = why === 'missing' ? `${variable} was not sent${insteadText(instead)}` : '';
  return `when ${leaf} ${WHY[why ?? 'different']}${what}`;
}

const WHY = {
  missing: 'did not hold: ',
  unknown: 'could not be judged',
  different: 'did not hold: another value was sent',
} as const;
