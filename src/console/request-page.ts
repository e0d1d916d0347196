/** Everything about one request: what was decided, why, and what became of it. */
import { explainStored, findOthers, storedToJson } from '../explanation/explanation.ts';
import { findStoredRequest } from '../storage/facts.ts';
import type { HookRequest } from '../request.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { judgementOf, type Judge } from './judge.ts';
import { rowOf } from './live-feed.ts';
import type { RequestPage } from './protocol.ts';

/** Undefined where nothing is kept under the id. */
export async function requestPage(
  { storage, live }: Pick<ConsoleDeps, 'storage' | 'live'>,
  judge: Judge,
  id: string,
): Promise<RequestPage | undefined> {
  const stored = await findStoredRequest(storage, id);
  if (stored === undefined) return undefined;
  const { decision, kept } = stored;
  const { generation, diagnostics } = await judge.base();
  const told = await explainStored(stored, {
    keepRequests: live().config.settings.storage.keepRequests,
    others: await findOthers(storage, stored),
    explainer: generation && { generation, diagnostics },
    settings: live(),
  });
  const { request, explained } = told;
  return {
    id: decision?.requestId ?? kept?.requestId ?? id,
    stored: storedToJson(told, undefined),
    ...(decision === undefined ? {} : { row: rowOf(decision) }),
    ...(request === undefined ? {} : { kept: contentOf(request) }),
    ...(request === undefined || explained === undefined ? {} : { now: judgementOf(explained) }),
    ...(request !== undefined && told.lacksFiles
      ? { nowProblem: 'the files have errors, which sluice check shows' }
      : {}),
  };
}

function contentOf({ url, path, headers, query, payload }: HookRequest): NonNullable<RequestPage['kept']> {
  return { url, path, headers, query, payload: JSON.stringify(payload) };
}
