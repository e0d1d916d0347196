import {
  allows,
  type Permission,
  PERMISSIONS,
  type StartCheck,
  type StartQuestion,
} from '../../base/action.ts';
import { oneLine } from '../../base/boundary/boundary.ts';
import { defined, isScalar, valueAt } from '../../base/json.ts';
import { accountKey, type CompiledMapping, type StartRule } from '../mapping/mapping.ts';
import { accountsOf } from '../senders/senders.ts';
import type { EvaluationState } from './evaluation-state.ts';
import { textAt } from './skip-rules.ts';

const MAX_NAME_CHARS = 200;

/**
 * What stands between a request and what a mapping makes of it: why its account may not start it, or the question to its
 * sender. A role in the request counts only as a yes, and only that of the account which acted: members whose membership
 * is private come as contributors.
 */
export function judgeStart(
  state: EvaluationState,
  { startedBy: rule }: CompiledMapping,
): StartCheck | undefined {
  if (rule === undefined) return undefined;
  const { permission: wanted, accounts, takesBots, asksOthers } = rule;
  const account = oneLine(accountOf(state, rule), MAX_NAME_CHARS);
  if (account === '') return { notAllowed: { reason: 'no_account' } };
  if (accounts.has(accountKey(account))) return undefined;
  if (!takesBots && isBot(state, rule)) return { notAllowed: { reason: 'bot', account } };
  const others = asksOthers ? { asksOthers } : {};
  if (wanted === undefined) return { notAllowed: { reason: 'not_named', account }, ...others };
  const question = rule.isAsked ? questionOf(state, rule, { account, wanted }) : undefined;
  if (question !== undefined) return { question, ...others };
  const role = rule.isAsked ? undefined : roleOf(state, rule, account);
  const proved = provedBy(rule, role);
  if (proved !== undefined && allows(proved, wanted)) return undefined;
  return { notAllowed: { reason: 'not_known', account, wanted, ...defined({ found: role }) }, ...others };
}

/** Undefined where a part of it is missing, or has another form than the sender gives it. */
function questionOf(
  { request }: EvaluationState,
  { sender, token }: StartRule,
  asked: Pick<StartQuestion, 'account' | 'wanted'>,
): StartQuestion | undefined {
  const parts: Record<string, string> = {};
  for (const [name, { fields, form }] of Object.entries(sender?.permission?.parts ?? {})) {
    const found = fields?.map((field) => valueAt(request.payload, field.split('.'))).find(isScalar);
    const part = fields === undefined ? asked.account : String(found ?? '');
    if (!new RegExp(form).test(part)) return undefined;
    parts[name] = part;
  }
  return { ...asked, sender: sender?.name ?? '', parts, ...defined({ token }) };
}

function accountOf({ render, scope, request }: EvaluationState, { account, sender }: StartRule): string {
  if (account !== undefined) return render('startedBy.account', account, scope).trim();
  const fields = sender === undefined ? [] : accountsOf(sender, true);
  return fields.map((field) => textAt(request.payload, field.split('.'))).find(Boolean) ?? '';
}

const isBot = ({ request }: EvaluationState, { sender }: StartRule): boolean =>
  Object.entries(sender?.bots ?? {}).some(([field, form]) =>
    new RegExp(form).test(textAt(request.payload, field.split('.')) ?? ''),
  );

/** The role that the request gives the account which acted; undefined where it tells of others only. */
function roleOf(
  { render, scope, request }: EvaluationState,
  { role, sender }: StartRule,
  account: string,
): string | undefined {
  const read = (field: string): string => textAt(request.payload, field.split('.')) ?? '';
  const found =
    role === undefined
      ? sender?.role?.from.find(({ of }) => accountKey(read(of)) === accountKey(account))
      : undefined;
  const text = role === undefined ? found && read(found.is) : render('startedBy.role', role, scope);
  return text === undefined ? undefined : oneLine(text, MAX_NAME_CHARS) || undefined;
}

/** What a role proves: as the file of the sender says, or the permission that it names itself. */
function provedBy({ sender }: StartRule, role = ''): Permission | undefined {
  const means = sender?.role?.means ?? {};
  return Object.hasOwn(means, role) ? means[role] : PERMISSIONS.find((permission) => permission === role);
}
