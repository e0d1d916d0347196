/** Everything about one request: what was decided, why, and what became of it. */
import { settingNotes, storedToJson } from '../explanation/explanation.ts';
import { parseKeptRequest, remedyOf } from '../hook/hook.ts';
import { findStoredRequest } from '../storage/storage.ts';
import type { HookRequest } from '../request.ts';
import type { ConsoleDeps } from './console-deps.ts';
import type { Judge } from './judge.ts';
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
  const { judged, ...request } = kept === undefined ? {} : parseKeptRequest(kept);
  const remedy = remedyOf(decision?.code, decision?.mappingId !== undefined);
  return {
    id: decision?.requestId ?? kept?.requestId ?? id,
    stored: storedToJson(stored, {
      judged,
      evaluation: undefined,
      settings: settingNotes({ ...live(), stored }),
    }),
    ...(decision === undefined ? {} : { row: rowOf(decision) }),
    ...(remedy === undefined ? {} : { remedy }),
    ...('payload' in request
      ? await keptParts(judge, request)
      : { removed: [], notKept: howToKeep(live().config.settings.storage.keepRequests.which) }),
  };
}

async function keptParts(
  judge: Judge,
  request: HookRequest,
): Promise<Pick<RequestPage, 'kept' | 'removed' | 'now' | 'nowProblem'>> {
  const { generation, diagnostics } = await judge.base();
  return {
    kept: contentOf(request),
    removed: removedNames(request),
    ...(generation === undefined
      ? { nowProblem: 'the files have errors, which sluice check shows' }
      : { now: await judge.judge(request, { generation, diagnostics }) }),
  };
}

function contentOf({ url, path, headers, query, payload }: HookRequest): NonNullable<RequestPage['kept']> {
  return { url, path, headers, query, payload: JSON.stringify(payload) };
}

function removedNames({ headers, query }: HookRequest): readonly string[] {
  return [...Object.entries(headers), ...Object.entries(query)].flatMap(([name, value]) =>
    value === '[removed]' ? [name] : [],
  );
}

function howToKeep(which: string | undefined): string {
  const now = which === undefined ? '' : ` (storage.keepRequests.which is ${which})`;
  return `The request itself was not kept${now}: set storage.keepRequests.which to failed or all to keep the next one.`;
}
