/**
 * Searches what is stored, by its text, an id, or a key that decides about it. The texts are read in parts that block this
 * thread for about a millisecond each; one call goes through some of them and says where the next goes on.
 */
import * as z from 'zod';
import { readKeptRequest } from '../../engine/hook/hook.ts';
import { findStoredRequest } from '../../engine/storage/facts.ts';
import type { KeptRequest, Storage } from '../../engine/storage/storage.ts';
import { eventIdKey } from '../../service/server/server.ts';
import { withoutSecrets } from '../../base/telemetry/telemetry.ts';
import { rowOf } from './inbox.ts';
import type { FoundPart, InboxRow } from './protocol.ts';
import type { ConsoleDeps, PageRequest, RouteContext } from './route.ts';

/** Without a pause only so many characters are looked through, and a longer request only at its beginning. */
const PART_BYTES = 256 * 1024;
const MAX_PARTS = 16;
const MAX_FOUND = 50;
const MAX_RUNS = 200;
const MAX_AMONG = 5_000;
const MAX_TEXT = 200;

/** The page before ended here, as its answer said. */
const Page = z.object({ cursor: z.coerce.number().int().nonnegative() });

export async function search(
  { deps }: RouteContext,
  { query, who, signal }: PageRequest,
): Promise<FoundPart | undefined> {
  const text = (query.get('text') ?? '').trim().slice(0, MAX_TEXT);
  const [from = '', to = ''] = (query.get('time') ?? '').split('/');
  const { cursor } = Page.parse({ cursor: query.get('cursor') ?? 0 });
  const { storage } = deps;
  const none = { shapes: 0, since: Date.now() };
  if (text === '') return { rows: [], looked: 0, ...none };
  const byName = cursor > 0 ? [] : await findByName(deps, text, who.role === 'view');
  // A visitor who may not see what was sent could guess it letter by letter.
  if (who.role === 'view') return { rows: byName, looked: byName.length, ...none };
  const { secrets } = deps.live.generation.config;
  const wanted = JSON.stringify(text).slice(1, -1).toLowerCase();
  const holds = (json: string): boolean =>
    json.toLowerCase().includes(wanted) &&
    withoutSecrets(json, secrets, 'json').toLowerCase().includes(wanted);
  const rows = [...byName];
  let [looked, shapes, since] = [0, 0, Date.now()];
  let next: number | undefined = cursor > 0 ? cursor : undefined;
  for (let part = 0; part < MAX_PARTS && rows.length < MAX_FOUND; part += 1) {
    signal.throwIfAborted();
    const before = next === undefined ? {} : { before: next };
    const time = { from: Date.parse(from) || 0, to: Date.parse(to) || Number.MAX_SAFE_INTEGER };
    // Hooks are taken in between.
    const read = await storage.readKept({ ...time, ...before, maxBytes: PART_BYTES });
    const found = read.rows.filter(({ json }) => holds(json));
    rows.push(...(await Promise.all(found.map((kept) => rowOfKept(storage, kept)))));
    looked += read.rows.length;
    shapes += read.rows.filter(({ kind }) => kind === 'shape').length;
    since = Math.min(since, ...read.rows.map(({ receivedAt }) => receivedAt));
    if (read.next === undefined) {
      const logs = [...deps.live.generation.recoveries.values()].map(({ path: name }) => name);
      return { rows, looked, shapes, since, logs };
    }
    ({ next } = read);
  }
  return { rows, looked, shapes, since, ...(next === undefined ? {} : { cursor: String(next) }) };
}

/**
 * Finds the request with that id, or with a run or event of it, those whose runs have this session key, and what first
 * came with this `Idempotency-Key`, signed id or key of `dedupe`.
 */
async function findByName(deps: ConsoleDeps, text: string, isViewer: boolean): Promise<readonly InboxRow[]> {
  const { storage } = deps;
  const runs = isViewer
    ? []
    : await storage.listRuns({ limit: MAX_RUNS, among: MAX_AMONG, sessionKey: text });
  const work = isViewer ? [] : await keyedWork(deps, text);
  const stored = await Promise.all([text, ...work].map((id) => findStoredRequest(storage, id)));
  const ofRuns = await Promise.all(runs.map((run) => storage.findDecision(run.action.origin.requestId)));
  const decisions = [...stored.map((known) => known?.decision), ...ofRuns];
  const found = new Map(decisions.flatMap((each) => (each === undefined ? [] : [[each.requestId, each]])));
  return [...found.values()].map(rowOf);
}

/** The runs and events that first came with a key by which repeats are known. */
async function keyedWork({ storage, live }: ConsoleDeps, key: string): Promise<readonly string[]> {
  const { paths, mappings } = live.generation.table;
  const now = Date.now();
  const scopes = [...paths].flatMap((path) => [path, eventIdKey(path, key).scope]);
  const [answers, actions] = await Promise.all([
    Promise.all(scopes.map((scope) => storage.findIdempotent(scope, key, now))),
    Promise.all(mappings.map(({ id }) => storage.findDeduped(id, key, now))),
  ]);
  const accepted = answers.flatMap((answer) => answer?.result.accepted ?? []);
  return [...accepted, ...actions].flatMap((action) => action?.id ?? []);
}

/** A request may be stored longer than its decision. */
async function rowOfKept(storage: Storage, kept: KeptRequest): Promise<InboxRow> {
  const { requestId: id, receivedAt: at, path } = kept;
  const decision = await storage.findDecision(id);
  if (decision !== undefined) return rowOf(decision);
  const whole = await storage.findKeptRequest(id);
  const outcome = (whole && readKeptRequest(whole).judged?.outcome) ?? 'rejected';
  return { id, at, path, outcome, status: 0, tookMs: 0, note: 'its decision is not kept any more' };
}
