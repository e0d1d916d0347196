import { valueAt, type JsonValue } from '../json.ts';
import { accountKey, type CompiledMapping } from '../mapping/mapping.ts';
import type { EvaluationState } from './evaluation-state.ts';
import type { Outcome } from './evaluation.ts';

type Skipped = Extract<Outcome, { readonly kind: 'skipped' }>;

/** Where GitHub, and those who send what it sends, put the words of a comment that a webhook is about. */
const COMMENT = ['comment', 'body'];

/**
 * Where senders put the account that did what a webhook tells: GitHub, Gitea and Forgejo; GitLab; Bitbucket, Linear
 * and Sentry; Slack. `docs/mappings.md` lists them.
 */
const ACCOUNTS: readonly (readonly string[])[] = [
  ['sender', 'login'],
  ['user', 'username'],
  ['user_username'],
  ['actor', 'username'],
  ['actor', 'nickname'],
  ['actor', 'name'],
  ['event', 'user'],
  ['event', 'bot_id'],
];

/** Why a mapping's request makes nothing, whatever else it holds: it tells of ourselves, or of somebody not listened to. */
export function findSkip(state: EvaluationState, mapping: CompiledMapping): Skipped | undefined {
  const { settings, request } = state;
  const words = textAt(request.payload, COMMENT);
  const runId = words === undefined ? undefined : settings.findOwnComment?.(words);
  if (runId !== undefined) return { kind: 'skipped', by: 'ownComment', runId };
  const { ignoreSenders } = mapping;
  if (ignoreSenders === undefined) return undefined;
  const { from, names } = ignoreSenders;
  const found =
    from === undefined
      ? usualSenders(request.payload).map(({ account }) => account)
      : [state.render('ignoreSenders.from', from, state.scope)];
  for (const account of found) {
    const name = names.get(accountKey(account));
    if (name !== undefined) return { kind: 'skipped', by: 'ignoreSenders', sender: name };
  }
  return undefined;
}

/** The places in which `ignoreSenders` looks where a mapping does not say which. */
export const USUAL_SENDERS: readonly string[] = ACCOUNTS.map((path) => path.join('.'));

/** The accounts that stand in a body at one of those places. */
export function usualSenders(
  payload: JsonValue,
): readonly { readonly at: string; readonly account: string }[] {
  return ACCOUNTS.flatMap((path) => {
    const account = textAt(payload, path);
    return account === undefined ? [] : [{ at: path.join('.'), account }];
  });
}

function textAt(payload: JsonValue, path: readonly string[]): string | undefined {
  const value = valueAt(payload, path);
  return typeof value === 'string' ? value : undefined;
}

/** What made a request nothing; of a payload only what the mapping itself names. */
export function skipText(outcome: Skipped): string {
  switch (outcome.by) {
    case 'action':
      return 'action: skip of the mapping';
    case 'transform':
      return 'the transform, which returned null';
    case 'forEach':
      return 'forEach, whose array is empty';
    case 'unmatched':
      return `${outcome.setBy ?? 'the recorder'}, as no mapping takes it`;
    case 'ownComment':
      return `the mark of our own comment, which run ${outcome.runId} wrote`;
    case 'ignoreSenders':
      return `ignoreSenders of the mapping, which names ${outcome.sender}`;
  }
}
