import type { Evaluation } from '../hook/hook.ts';
import type { RoutingTable } from '../mapping/mapping.ts';
import type { HookRequest } from '../request.ts';
import { findInstead, isReadAmiss } from './advice.ts';
import { EACH_OBJECT_WORDS } from './each-object.ts';
import { loneHelper, presentTime } from './lone-helper.ts';
import { kindNotes } from './request-notes.ts';
import { senderNote } from './sender-note.ts';
import { SPLIT_KEY_WORDS } from './split-keys.ts';

/** What a decision may say beside its outcome: words of the operator's own files and of ours, never the sender's. */
export interface DecisionAdvice {
  /** What kind of request it is. */
  readonly notes: readonly string[];
  /** Variables and expressions that found nothing, with the path that would. */
  readonly instead: ReadonlyMap<string, string>;
  /** That `ignoreSenders` found no account to compare. */
  readonly sender?: string;
}

/** Words of our own suggestions. */
const OWN_WORDS =
  'item payload headers query it in the elements of add forEach outside block where a path begins at element write root for all them join';

/**
 * Advises on requests that are not kept: names of fields belong to the sender, so one is told only where the operator's
 * files have that word already.
 */
export function createDecisionAdvisor(
  table: RoutingTable,
): (evaluation: Evaluation, request: HookRequest) => DecisionAdvice {
  let words: ReadonlySet<string> | undefined;
  return (evaluation, request) => {
    words ??= wordsOf(table);
    const known = words;
    const isKnown = (path: string): boolean =>
      wordsIn(path).every((word) => /^\d+$/.test(word) || known.has(word));
    const sender = senderNote(evaluation, request, isKnown);
    return {
      notes: kindNotes(request, table.settingsOf(request.path), isReadAmiss(evaluation)).map(
        ({ text }) => text,
      ),
      instead: new Map(
        [...findInstead(evaluation, request)].filter(
          ([name, near]) => near === loneHelper(name) || near === presentTime(name) || isKnown(near),
        ),
      ),
      ...(sender?.hasAccount === false ? { sender: `ignoreSenders: ${sender.text}` } : {}),
    };
  };
}

/** Of the operator's files, each read once however many mappings it has, and of our own suggestions. */
function wordsOf({ mappings }: RoutingTable): ReadonlySet<string> {
  const texts = new Set(mappings.map(({ at }) => at.source.text));
  return new Set([
    ...`${OWN_WORDS} ${SPLIT_KEY_WORDS} ${EACH_OBJECT_WORDS}`.split(' '),
    ...[...texts].flatMap(wordsIn),
  ]);
}

function wordsIn(text: string): readonly string[] {
  return text.match(/[\w-]+/g) ?? [];
}
