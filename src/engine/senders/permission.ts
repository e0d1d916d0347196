/** Asks the interface of a sender what an account may do at a place. */
import { allows, type Permission, type StartQuestion } from '../../base/action.ts';
import { type JsonValue, valueAt } from '../../base/json.ts';
import { askInterface, InterfaceError, readApi, refusalText } from './ask-interface.ts';
import type { Sender } from './sender.ts';

/** What a sender says of an account; `unknown` where it cannot be asked at present. */
export type PermissionAnswer =
  | { readonly kind: 'known'; readonly isEnough: boolean; readonly found: string }
  | { readonly kind: 'unknown'; readonly message: string; readonly retryAfterMs?: number | undefined };

/** 404 and a lesser permission say no; 401, 403, 429 and all else decide nothing. `api`: of a server of one's own. */
export async function askPermission(
  { title, interface: own, permission }: Sender,
  { parts, wanted }: StartQuestion,
  { token, api }: { readonly token: string; readonly api?: string | undefined },
): Promise<PermissionAnswer> {
  const none = { kind: 'known', isEnough: false, found: 'no permission there' } as const;
  if (permission === undefined || own === undefined)
    return { kind: 'unknown', message: `${title} has no answer` };
  // Each is one part of the path, which these are not, however they are written.
  if (Object.values(parts).some((part) => /^\.{0,2}$/.test(part))) return none;
  const filling = Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [name, encodeURIComponent(part)]),
  );
  try {
    const takes = { ...own, token: permission.token };
    const asked = {
      title,
      interface: takes,
      api: readApi(api ?? own.api),
      target: undefined,
      place: '',
      token,
    };
    const answer = await askInterface(asked, { method: 'GET', path: permission.path }, filling);
    const { status, body, retryAfterMs } = answer;
    if (status === 404) return none;
    if (status >= 300) return { kind: 'unknown', message: refusalText(status, asked), retryAfterMs };
    // Such as a page on which somebody is to log in.
    if (body === undefined)
      return { kind: 'unknown', message: `${title} cannot be asked: what answers at its address is no JSON` };
    for (const field of permission.answer) {
      const found = permissionOf(permission.order, valueAt(body as JsonValue, field.split('.')));
      if (found !== undefined) return { kind: 'known', isEnough: allows(found, wanted), found };
    }
    return none;
  } catch (error) {
    if (error instanceof InterfaceError) return { kind: 'unknown', message: error.message };
    throw error;
  }
}

function permissionOf(
  order: NonNullable<Sender['permission']>['order'],
  value: JsonValue | undefined,
): Permission | undefined {
  const found = order.find((each) =>
    typeof each === 'string' ? each === value : each.is.some((one) => one === value),
  );
  return typeof found === 'object' ? found.means : found;
}
