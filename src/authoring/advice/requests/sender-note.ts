import { say, write, type Sentence } from '../../../base/finding.ts';
import { usualSenders, type Evaluation } from '../../../engine/hook/hook.ts';
import { USUAL_SENDERS } from '../../../engine/hook/facts.ts';
import { accountKey } from '../../../engine/mapping/mapping.ts';
import type { HookRequest } from '../../../base/request.ts';
import { createBodyIndex, outsideLists } from './body-index.ts';

/** What `ignoreSenders` of the mapping taken found in a request that it did not skip. */
export interface SenderNote {
  /** False: there is nothing at any of the places where it looks. */
  readonly hasAccount: boolean;
  readonly text: Sentence;
  /** Where the body has one of the names, as the mapping writes it. */
  readonly near?: { readonly at: string; readonly name: string };
}

/** Says with what `ignoreSenders` compared its names; `knows` says which paths of the body may be told. */
export function senderNote(
  { mapping, outcome, trace }: Evaluation,
  request: HookRequest,
  knows: (path: string) => boolean = () => true,
): SenderNote | undefined {
  if (mapping?.ignoreSenders === undefined || outcome.kind === 'skipped') return undefined;
  const { names, from } = mapping.ignoreSenders;
  if (from !== undefined) {
    const text = trace.templates.find(({ field }) => field === 'ignoreSenders.from')?.text?.trim();
    return text === undefined || text === '' ? undefined : compared([{ at: 'from', account: text }]);
  }
  const accounts = usualSenders(request.payload);
  return accounts.length > 0 ? compared(accounts) : noAccount(names, request, knows);
}

/** None of the usual fields is there: names the path at which the request has one of the names, where that may be told. */
function noAccount(
  names: ReadonlyMap<string, string>,
  request: HookRequest,
  knows: (path: string) => boolean,
): SenderNote {
  const near = nameIn(names, request, knows);
  return { hasAccount: false, text: sayNoAccount(names, near), ...(near === undefined ? {} : { near }) };
}

/** What to write where `ignoreSenders` with these names found no account. */
export function sayNoAccount(
  names: ReadonlyMap<string, string>,
  { at, name }: { readonly at?: string; readonly name?: string } = {},
): Sentence {
  const there = name === undefined ? '' : `; ${at} is ${JSON.stringify(name)}`;
  return say`none of the fields in which it looks for the account is in this request (${USUAL_SENDERS.join(', ')})${there}: ${write(`ignoreSenders: {names: [${[...names.values()].join(', ')}], from: '{{${at ?? 'path.of.the.account'}}}'}`)}`;
}

/** The first place of the body with one of the names, told as the mapping writes it, not as the sender does. */
function nameIn(
  names: ReadonlyMap<string, string>,
  { payload }: HookRequest,
  knows: (path: string) => boolean,
): { readonly at: string; readonly name: string } | undefined {
  for (const field of createBodyIndex(payload).fields()) {
    const name = typeof field.value === 'string' ? names.get(accountKey(field.value)) : undefined;
    const at = field.keys.join('.');
    if (name !== undefined && outsideLists(field) && knows(at)) return { at, name };
  }
  return undefined;
}

function compared(accounts: ReturnType<typeof usualSenders>): SenderNote {
  const found = accounts.map(({ at, account }) => `${at} is ${JSON.stringify(account.slice(0, 80))}`);
  return { hasAccount: true, text: say`${found.join(', ')}, which is none of its names` };
}
