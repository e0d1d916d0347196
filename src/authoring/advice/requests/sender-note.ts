import { inWords, say, todo, type Sentence } from '../../../base/finding.ts';
import { accountsIn, type Evaluation } from '../../../engine/hook/hook.ts';
import type { CompiledMapping } from '../../../engine/mapping/mapping.ts';
import { holdsUnkept, type HookRequest } from '../../../base/request.ts';

/** Whether `ignoreSenders` of the matched mapping found no account at any place where it looks. */
export const lacksAccount = ({ mapping, outcome }: Evaluation, { payload }: HookRequest): boolean =>
  mapping?.ignoreSenders !== undefined &&
  mapping.ignoreSenders.from === undefined &&
  outcome.kind !== 'skipped' &&
  accountsIn(payload, mapping).length === 0;

export const sayNoAccount = ({
  ignoreSenders,
  accounts = [],
}: Pick<CompiledMapping, 'ignoreSenders' | 'accounts'>): Sentence =>
  say`none of the fields in which it looks for ${inWords([...(ignoreSenders?.names.values() ?? [])], 'or')} is in this request (${accounts.join(', ')}): ${todo}name the path of the account in from of ignoreSenders`;

/** Says what `ignoreSenders` compared its names with, in a request that it did not skip. */
export function sayAccounts(evaluation: Evaluation, request: HookRequest): Sentence | undefined {
  const { mapping, outcome, trace } = evaluation;
  if (mapping?.ignoreSenders === undefined || outcome.kind === 'skipped') return undefined;
  if (lacksAccount(evaluation, request)) return sayNoAccount(mapping);
  const from = trace.templates.find(({ field }) => field === 'ignoreSenders.from')?.text?.trim();
  const accounts =
    from === undefined ? accountsIn(request.payload, mapping) : [{ at: 'from', account: from }];
  const known = accounts.filter(({ account }) => account !== '' && !holdsUnkept(account));
  const found = known.map(({ at, account }) => `${at} is ${JSON.stringify(account.slice(0, 80))}`);
  return found.length === 0 ? undefined : say`${found.join(', ')}, which is none of its names`;
}
