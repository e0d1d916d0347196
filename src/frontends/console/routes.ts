/** Answers what the page asks, with the modules that the command line calls. */
import * as z from 'zod';
import { defined } from '../../base/json.ts';
import { readKeptRequest } from '../../engine/hook/hook.ts';
import type { HookRequest } from '../../base/request.ts';
import { displayName } from '../../base/document/document.ts';
import {
  type AuthorFolders,
  completeAt,
  findAuthorFile,
  findAuthorFiles,
  type Impact,
  type Judge,
  judgementOf,
  judging,
  type LoadedFiles,
  readAuthorFile,
  saveAuthorFile,
  shownFinding,
  writeNewMapping,
} from '../../authoring/workbench/workbench.ts';
import {
  gatewayOf,
  operatorName,
  type ConsoleDeps,
  type PageRequest,
  type PageRoute,
  type RouteContext,
  withoutNames,
} from './route.ts';
import { inbox, rowOf } from './inbox.ts';
import { awaitedUntil, overview } from '../../service/operations/operations.ts';
import type { Completion, DraftAnswer, RequestPage, SaveAnswer } from './protocol.ts';
import {
  explainRequest,
  explainStored,
  type StoredJson,
  storedToJson,
} from '../../authoring/explanation/explanation.ts';
import { findStoredRequest, type StoredRequest } from '../../engine/storage/facts.ts';
import type { RunRecord } from '../../engine/storage/storage.ts';

/** Routes for GET, in `serve` too. */
export const READING: Readonly<Record<string, PageRoute>> = {
  '/api/inbox': inbox,
  '/api/overview': ({ deps, decided }, { who }) =>
    overview(
      deps.storage,
      { gateway: gatewayOf(deps), decided, text: who.role !== 'view' },
      deps.live.generation.recoveries.keys(),
    ),
  '/api/request': ({ deps, judge }, { query, who }) =>
    requestPage(deps, judge, { id: query.get('id') ?? '', withText: who.role !== 'view' }),
};

/** Routes for GET by visitors who may try changes. */
export const AUTHORING: Readonly<Record<string, PageRoute>> = {
  '/api/files': async ({ deps }) => {
    const files = await findAuthorFiles(foldersOf(deps));
    return { files: files.map(({ name, kind }) => ({ name, kind })) };
  },
  '/api/file': async ({ deps }, { query }) => {
    const file = await findAuthorFile(foldersOf(deps), query.get('name') ?? '');
    return file && readAuthorFile(file);
  },
};

/** Routes that try a change and write nothing; they use POST, because they cost something. */
export const TRYING: Readonly<Record<string, PageRoute>> = {
  '/api/complete': complete,
  '/api/draft': draft,
  '/api/impact': impact,
};

/** Routes that write files; `dev` only. */
export const WRITING: Readonly<Record<string, PageRoute>> = {
  '/api/save': save,
  '/api/new': newMapping,
};

const Draft = z.strictObject({
  file: z.string().max(4096),
  text: z.string(),
  request: z.string().max(100).optional(),
});
const Save = z.strictObject({ file: z.string().max(4096), text: z.string(), version: z.string().max(100) });
const Chosen = z.strictObject({ request: z.string().max(100) });

const Completing = Draft.extend({ pos: z.int().nonnegative(), explicit: z.boolean() });

async function complete({ deps }: RouteContext, { body }: PageRequest): Promise<Completion> {
  const { file: fileName, request: id, ...at } = Completing.parse(body);
  const request = id === undefined ? undefined : await findWholeRequest(deps, id);
  const hookNames = [...deps.live.generation.table.paths];
  const offer = completeAt(
    { fileName, ...at },
    { requests: request === undefined ? [] : [request], hookNames },
  );
  return { from: at.pos, options: [], ...offer, validFor: offer?.validFor.source ?? '' };
}

function foldersOf({ live }: ConsoleDeps): AuthorFolders {
  return live.generation.config.settings.hooks;
}

async function loadDraft(
  { deps, drafts }: RouteContext,
  { file: name, text }: z.output<typeof Draft>,
  signal: AbortSignal,
): Promise<LoadedFiles | undefined> {
  const folders = foldersOf(deps);
  const file = await findAuthorFile(folders, name);
  return file && drafts.load(folders, { generation: deps.live.generation.id, file, text, signal });
}

async function draft(context: RouteContext, { body, signal }: PageRequest): Promise<DraftAnswer | undefined> {
  const asked = Draft.parse(body);
  const { request: id } = asked;
  const loaded = await loadDraft(context, asked, signal);
  if (loaded === undefined) return undefined;
  signal.throwIfAborted();
  const findings = loaded.findings.map(shownFinding);
  const request = id === undefined ? undefined : await findWholeRequest(context.deps, id);
  const by = judging(loaded);
  if (by === undefined || request === undefined) return { findings };
  return { findings, judgement: judgementOf(await explainRequest(request, by)) };
}

async function impact(
  context: RouteContext,
  { body, signal }: PageRequest,
): Promise<Partial<Impact> | undefined> {
  const loaded = await loadDraft(context, Draft.parse(body), signal);
  if (loaded === undefined) return undefined;
  const { generation } = loaded;
  return (generation && (await context.judge.impact(generation, signal))) ?? {};
}

async function save(
  { deps, drafts }: RouteContext,
  { body, who }: PageRequest,
): Promise<SaveAnswer | undefined> {
  const { file: name, text, version } = Save.parse(body);
  const file = await findAuthorFile(foldersOf(deps), name);
  if (file === undefined) return undefined;
  const written = await saveAuthorFile(file, { text, version });
  if (!written.isSaved) return { kind: 'changed', version: written.version };
  drafts.forget();
  const reloaded = await deps.live.reload(operatorName(who));
  const findings = reloaded.kind === 'rejected' ? reloaded.findings : 0;
  return { kind: 'saved', version: written.version, findings };
}

async function newMapping(
  { deps, drafts }: RouteContext,
  { body, who }: PageRequest,
): Promise<object | undefined> {
  const { request: id } = Chosen.parse(body);
  // A request whose name no mapping has is not stored, so only its name is known.
  const request = (await findWholeRequest(deps, id)) ?? (await deps.storage.findDecision(id));
  if (request === undefined) return undefined;
  const file = await writeNewMapping(request, foldersOf(deps).mappingsDir);
  drafts.forget();
  await deps.live.reload(operatorName(who));
  return { file: displayName(file) };
}

async function findWholeRequest({ storage }: ConsoleDeps, id: string): Promise<HookRequest | undefined> {
  const kept = await storage.findKeptRequest(id);
  if (kept?.kind !== 'whole') return undefined;
  const { request, unread } = readKeptRequest(kept);
  return unread === undefined ? request : undefined;
}

/** What a run will read, about which somebody is asked. */
const promptAsked = (run: RunRecord): readonly string[] =>
  awaitedUntil(run) === undefined || run.action.kind !== 'agent' ? [] : [run.action.prompt];

async function requestPage(
  { storage, live }: Pick<ConsoleDeps, 'storage' | 'live'>,
  judge: Judge,
  { id, withText }: { readonly id: string; readonly withText: boolean },
): Promise<RequestPage | undefined> {
  const found = await findStoredRequest(storage, id);
  if (found === undefined) return undefined;
  const { kept, ...known } = found;
  // Who may not see what was sent gets only what the store knows besides.
  const stored: StoredRequest = withText ? found : known;
  const { decision } = stored;
  const base = await judge.base();
  const explanation = await explainStored(stored, {
    keepRequests: live.generation.config.settings.storage.keepRequests,
    explainer: judging(base),
    before: kept === undefined ? undefined : await judge.before(known.decision?.generation),
    isHidden: !withText && kept !== undefined,
    settings: live.generation,
  });
  const { request, explained } = explanation;
  return {
    id: decision?.requestId ?? stored.kept?.requestId ?? id,
    stored: withText
      ? storedToJson(explanation, undefined)
      : withoutRunNames(storedToJson(explanation, undefined, false)),
    ...defined({
      row: decision && rowOf(decision),
      content: request && contentOf(request),
      now: request && explained && judgementOf(explained),
      asked: withText ? stored.runs.flatMap(({ run }) => promptAsked(run)) : undefined,
      isByThen: explanation.isByThen ? (true as const) : undefined,
      nowProblem:
        request && explanation.lacksFiles ? 'the files have errors, which sluice check shows' : undefined,
    }),
  };
}

function withoutRunNames(stored: StoredJson): StoredJson {
  const runs = stored.runs.map((run) => ({
    ...withoutNames(run),
    outbox: run.outbox.map((sent) => ({ ...sent, to: null })),
  }));
  return { ...stored, runs };
}

function contentOf({ url, path, headers, query, payload }: HookRequest): NonNullable<RequestPage['content']> {
  return { url, path, headers, query, payload: JSON.stringify(payload) };
}
