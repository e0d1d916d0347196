import type { Finding, StoredFinding } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import { isOfKind, requestFinding } from './findings.ts';
import { type Evaluation } from '../../../engine/hook/hook.ts';
import type { RoutingTable } from '../../../engine/mapping/mapping.ts';
import type { HookRequest } from '../../../base/request.ts';
import type { RequestAdvice } from '../../../service/server/server.ts';
import { isReadAmiss, readsBodyAsList } from './request-advice.ts';
import { findSuggestions } from './near-paths.ts';
import { BODY_IS_LIST, findKind } from './request-notes.ts';
import { lacksAccount } from './sender-note.ts';

const OWN_NAME = /^(?:payload|headers|query|item|\d+)$/;

/** A name with a letter like this is the sender's own: the letter is part of no word and separates none. */
const STRANGE = /[^\p{L}\p{N}_\s./[\]@:-]/u;

/**
 * Advises on requests that are not stored. Names of fields belong to the sender, so a name is shown only
 * where the operator's files have that word already.
 */
export function createDecisionAdvisor(
  table: RoutingTable,
): (evaluation: Evaluation, request: HookRequest) => RequestAdvice {
  let words: ReadonlySet<string> | undefined;
  return (evaluation, request) => {
    words ??= wordsOf(table);
    const known = words;
    const isKnown = (path: string): boolean =>
      !STRANGE.test(path) && wordsIn(path).every((word) => OWN_NAME.test(word) || known.has(word));
    const notes = notesFor(evaluation, request, table);
    const suggestions = notes.some(isOfKind) ? [] : findSuggestions(evaluation, request);
    return {
      findings: [
        ...notes.map(({ code, facts }) => ({ code, ...defined({ facts: facts as StoredFinding['facts'] }) })),
        ...(lacksAccount(evaluation, request) ? [{ code: 'no_account' }] : []),
      ],
      instead: new Map(
        [...suggestions].flatMap(([name, { names }]) =>
          names.length > 0 && names.every(isKnown) ? [[name, names]] : [],
        ),
      ),
    };
  };
}

/** The notes quote nothing of the request. */
function notesFor(evaluation: Evaluation, request: HookRequest, table: RoutingTable): readonly Finding[] {
  const kind =
    evaluation.mapping === undefined ? findKind(request, table.settingsOf(request.path)) : undefined;
  if (kind !== undefined) return [kind];
  const isList = Array.isArray(request.payload) && !readsBodyAsList(evaluation);
  return isList && isReadAmiss(evaluation) ? [requestFinding('body_is_list', BODY_IS_LIST)] : [];
}

/** Each of the operator's files is read once, however many mappings it has. */
export function wordsOf({ mappings }: RoutingTable): ReadonlySet<string> {
  const texts = new Set(mappings.map(({ at }) => at.source.text));
  return new Set([...texts].flatMap(wordsIn));
}

function wordsIn(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_-]+/gu) ?? [];
}
