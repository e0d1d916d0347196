import type { Finding, StoredFinding } from '../../../base/finding.ts';
import { defined } from '../../../base/json.ts';
import { isOfKind } from './findings.ts';
import { type Evaluation } from '../../../engine/hook/hook.ts';
import type { RoutingTable } from '../../../engine/mapping/mapping.ts';
import type { HookRequest } from '../../../base/request.ts';
import type { RequestAdvice } from '../../../service/server/server.ts';
import { isReadAmiss, readsBodyAsList } from './request-advice.ts';
import { createBodyIndex } from './body-index.ts';
import { findElementReads } from './element-reads.ts';
import { findSuggestions } from './missing-paths.ts';
import { kindNotes } from './request-notes.ts';
import { senderNote } from './sender-note.ts';

/** Where paths begin: names of ours, and positions in lists. */
const OWN_NAME = /^(?:payload|headers|query|item|\d+)$/;

/** A letter that stands in no word, and separates none either: a name with one is the sender's own. */
const STRANGE = /[^\p{L}\p{N}_\s./[\]@:-]/u;

/**
 * Advises on requests that are not kept: names of fields belong to the sender, so one is told only where the operator's
 * files have that word already.
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
    const sender = senderNote(evaluation, request, isKnown);
    const reads = findElementReads(evaluation, createBodyIndex(request.payload));
    const notes = reads === undefined ? notesFor(evaluation, request, table) : [reads.note];
    const isNoEvent = notes.some(isOfKind);
    const suggestions = isNoEvent ? [] : findSuggestions(evaluation, request, { ofElements: reads?.names });
    return {
      findings: [
        ...notes
          .filter(({ subject }) => subject?.paths?.every(isKnown) !== false)
          .map(({ code, facts }) => ({ code, ...defined({ facts: facts as StoredFinding['facts'] }) })),
        ...(sender?.hasAccount === false
          ? [{ code: 'no_account', ...(sender.near === undefined ? {} : { facts: { ...sender.near } }) }]
          : []),
      ],
      instead: new Map(
        [...suggestions].flatMap(([name, { names, paths = names }]) =>
          names.length > 0 && names.every(isKnown) ? [[name, paths]] : [],
        ),
      ),
    };
  };
}

/** Of a request that a mapping took only what explains why its names found nothing. */
function notesFor(evaluation: Evaluation, request: HookRequest, table: RoutingTable): readonly Finding[] {
  if (evaluation.mapping !== undefined) return [];
  const isAmiss = !readsBodyAsList(evaluation) && isReadAmiss(evaluation);
  return kindNotes(request, table.settingsOf(request.path), isAmiss);
}

/** Of the operator's files, each read once however many mappings it has. */
export function wordsOf({ mappings }: RoutingTable): ReadonlySet<string> {
  const texts = new Set(mappings.map(({ at }) => at.source.text));
  return new Set([...texts].flatMap(wordsIn));
}

function wordsIn(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_-]+/gu) ?? [];
}
