import { channelIdOf, notAllowedText } from '../../base/action.ts';
import { isScalar, valueAt, type JsonValue } from '../../base/json.ts';
import { findMarks } from '../../base/marks.ts';
import { type FoundMark } from '../../base/conversation.ts';
import { clearLine } from '../../base/telemetry/telemetry.ts';
import { accountKey, type CompiledMapping } from '../mapping/mapping.ts';
import { accountsOf } from '../senders/senders.ts';
import type { EvaluationState } from './evaluation-state.ts';
import type { Outcome } from './evaluation.ts';

type SkippedOutcome = Extract<Outcome, { readonly kind: 'skipped' }>;

/** Where GitHub, those who send what it sends, and GitLab put the words of a comment, and a mailbox the id of a mail. */
const OWN_WORDS = [
  ['comment', 'body'],
  ['object_attributes', 'note'],
  ['messages', '0', 'messageId'],
];

/** Why a mapping's request makes nothing, whatever else it holds: it tells of ourselves, or of somebody not listened to. */
export function findSkip(state: EvaluationState, mapping: CompiledMapping): SkippedOutcome | undefined {
  const { settings, request } = state;
  for (const path of OWN_WORDS) {
    const words = textAt(request.payload, path);
    const runId = words === undefined ? undefined : settings.findOwnComment?.(words);
    if (runId !== undefined) return { kind: 'skipped', by: 'ownComment', runId };
  }
  // An answer to an answer that nobody wrote would be answered, too.
  const channel = channelIdOf(mapping.channel?.literal?.trim().toLowerCase() ?? '');
  if (channel === 'email' && isAutomatic(request.payload)) return { kind: 'skipped', by: 'autoSubmitted' };
  const { ignoreSenders } = mapping;
  if (ignoreSenders === undefined) return undefined;
  const { from, names } = ignoreSenders;
  const found =
    from === undefined
      ? accountsIn(request.payload, mapping).map(({ account }) => account)
      : [state.render('ignoreSenders.from', from, state.scope)];
  for (const account of found) {
    const name = names.get(accountKey(account));
    if (name !== undefined) return { kind: 'skipped', by: 'ignoreSenders', sender: name };
  }
  return undefined;
}

/** The marks in what an event tells of, where the one who wrote it caused the event. */
export function findOwnMarks(
  { request: { payload } }: EvaluationState,
  { sender, conversation }: CompiledMapping,
): readonly FoundMark[] {
  if (conversation === undefined || sender?.words === undefined) return [];
  const read = (field: string): string => {
    const value = valueAt(payload, field.split('.'));
    return isScalar(value) ? String(value) : '';
  };
  const isThere = (field: string): boolean => valueAt(payload, field.split('.')) !== undefined;
  const told = sender.words.find((words) => isThere(words.by) && isThere(words.in));
  if (told === undefined) return [];
  const actors = told.is === undefined ? accountsOf(sender, true) : [told.is];
  const author = read(told.by);
  const isAuthor = author !== '' && author === actors.map(read).find(Boolean);
  return isAuthor ? findMarks(read(told.in), 'sluice-mark') : [];
}

/** Whether it is mail that machines wrote, or lists sent, and none that a person did (RFC 3834). */
export function isAutomatic(payload: JsonValue): boolean {
  const mails = valueAt(payload, ['messages']);
  if (!Array.isArray(mails) || mails.length === 0) return false;
  return mails.every((mail) => textAt(mail, ['autoSubmitted']) !== undefined);
}

/** The accounts that stand in a body at the places where a mapping looks for them. */
export function accountsIn(
  payload: JsonValue,
  { accounts = [] }: Pick<CompiledMapping, 'accounts'>,
): readonly { readonly at: string; readonly account: string }[] {
  return accounts.flatMap((at) => {
    const account = textAt(payload, at.split('.'));
    return account === undefined ? [] : [{ at, account }];
  });
}

export function textAt(payload: JsonValue, path: readonly string[]): string | undefined {
  const value = valueAt(payload, path);
  return typeof value === 'string' ? value : undefined;
}

/** What made a request nothing; of a payload only what the mapping itself names. */
export function skipText(outcome: SkippedOutcome): string {
  switch (outcome.by) {
    case 'action':
      return 'action: skip of the mapping';
    case 'transform':
      return 'the transform, which returned null';
    case 'forEach':
      return 'forEach, whose array is empty';
    case 'unmatched':
      return `${outcome.setBy ?? 'the recorder'}, as no mapping takes it`;
    case 'autoSubmitted':
      return 'autoSubmitted of the mail, which wants no answer of a machine, so that no two answer each other';
    case 'ownComment':
      return `the mark of our own comment, which run ${outcome.runId} wrote`;
    case 'not_allowed':
      return clearLine(notAllowedText(outcome));
    case 'ignoreSenders':
      return `ignoreSenders of the mapping, which names ${outcome.sender}`;
  }
}
