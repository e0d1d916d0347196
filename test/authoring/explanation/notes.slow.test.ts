/** Every kind of note that explain has is in its text, in its JSON and in what the console gets: the same notes. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HookError } from '../../../src/base/errors.ts';
import { explanationToJson, formatEvaluation } from '../../../src/authoring/explanation/explanation.ts';
import { createHookRequest } from '../../../src/engine/hook/hook.ts';
import { type NoteJson } from '../../../src/authoring/advice/requests.ts';
import { NOTE_CODES } from '../../../src/authoring/advice/requests/findings.ts';
import { cli } from '../../support/cli-terminal.ts';
import {
  makeConsoleFolder,
  startConsoleService,
  type ConsoleService,
} from '../../support/console-fixture.ts';

const CONFIG = `hooks: { enabled: true, token: "\${SLUICE_HOOK_TOKEN}" }
gateway: { heartbeat: { everySeconds: 0 } }
console: { enabled: true, port: 0 }
server: { stopGraceSeconds: 0.1 }
`;

const MAPPINGS = `
- id: many
  ignoreSenders: [a-bot]
  match:
    path: many
    when:
      and: [{ '!!': { var: a } }, { '!!': { var: b } }, { '!!': { var: c } }, { '!!': { var: d } }, { '!!': { var: e } }, { in: [main, { var: ref }] }]
  messageTemplate: x
- { id: later, match: { path: many, when: { '!!': { var: late } } }, messageTemplate: x }
- { id: either, match: { path: missed, when: { or: [{ '===': [{ var: kind }, a] }, { '===': [{ var: n }, 2] }] } }, messageTemplate: x }
- { id: quoted, match: { path: missed, when: { '===': [{ var: n }, '1'] } }, messageTemplate: x }
- { id: header, match: { path: missed, when: { '===': [{ var: headers.github-event }, push] } }, messageTemplate: x }
- { id: moved, match: { path: missed, when: { '===': [{ var: type }, incident.trigger] } }, messageTemplate: x }
- { id: packed, match: { path: missed, when: { '===': [{ var: data.kind }, lead] } }, messageTemplate: x }
- { id: dotted, match: { path: missed, when: { '===': [{ var: meta.app.io/rev }, b] } }, messageTemplate: x }
- { id: outer, match: { path: outer }, forEach: alerts, messageTemplate: '{{status}} {{item.name}}' }
- { id: inner, match: { path: inner }, messageTemplate: 'x {{name}} {{state}}' }
- { id: again, match: { path: again }, dedupe: body, messageTemplate: '{{date at "HH:mm"}}' }
- { id: nothing, match: { path: nothing }, action: skip }
- { id: unkept, match: { path: unkept, when: { '===': [{ var: kind }, order] } }, keepRequests: none, messageTemplate: x }
- { id: bot, match: { path: bot, when: { '!!': { var: done } } }, messageTemplate: x }
- { id: commits, match: { path: commits }, messageTemplate: '{{head_commit.id}}' }
- { id: rooted, match: { path: rooted, when: { '===': [{ var: body.kind }, a] } }, messageTemplate: '{{body.name}}' }
`;

/** Apart, as each explanation loads their transform: they are there only as long as requests of theirs are asked about. */
const CODED = `
- id: rendered
  match: { path: rendered }
  transform: idle.ts
  sessionKey: 'hook:{{pr.number}}'
  messageTemplate: 'x {{payload.name}} {{query}}'
- id: odd
  match: { path: odd }
  keepRequests: none
  transform: idle.ts
  sessionKey: 'hook:{{data.id}}'
  dedupe: { key: '{{id}}' }
  messageTemplate: 'x {{data.kind}}'
`;

const TRANSFORM = `export default () => {
  for (let at = 0; at < 5000; at += 1) console.log('a line that is long enough to fill what is kept of a console');
};
`;

const folder = makeConsoleFolder({
  'sluice.yaml': CONFIG,
  'mappings/order.yaml': MAPPINGS,
  'mappings/coded.yaml': CODED,
  'mappings/old.yam': '- { match: { path: old }, messageTemplate: x }\n',
  'transforms/idle.ts': TRANSFORM,
});
let running: ConsoleService;
let session: string;

beforeAll(async () => {
  running = await startConsoleService(folder.path);
  const key = readFileSync(join(folder.path, '.sluice/console-key'), 'utf8').trim();
  const signIn = {
    method: 'POST',
    headers: { origin: new URL(running.url).origin },
    body: JSON.stringify({ key }),
  };
  const answer = await fetch(new URL('/session', running.url), signIn);
  session = ((await answer.json()) as { readonly token: string }).token;
});
afterAll(async () => {
  await running.stop();
  folder.remove();
});

/** A hint stands on lines of its own, the verb first: its words are there, in another order. */
function isPrinted(line: string, text: string): boolean {
  const printed = text.toLowerCase();
  const words = line.toLowerCase().split(/\s+/);
  return words.every((word) => printed.includes(word.replace(/[:;,.]+$/, '')));
}

interface Told {
  readonly notes: readonly NoteJson[];
  readonly evaluation?: { readonly notes: readonly NoteJson[] };
}

/**
 * The notes of a request, each of which is in all three. After a change of the mappings, `explain` judges by those that were
 * live then, and the console by those of now: then each line is looked for in the text alone.
 */
async function notesOf(id: string, isChanged = false): Promise<readonly NoteJson[]> {
  const explain = async (...more: readonly string[]): Promise<string> =>
    (await cli(['explain', id, ...more], { cwd: folder.path })).out;
  const told = async (): Promise<readonly NoteJson[]> => {
    const { notes: own, evaluation } = JSON.parse(await explain('--json')) as Told;
    return [...own, ...(evaluation?.notes ?? [])];
  };
  let [text, notes, shown]: [string, readonly NoteJson[], unknown] = ['', [], []];
  // The decision and the request are written after the answer, and the command reads the file of the store.
  const isWritten = async (): Promise<boolean> => {
    shown = await consoleNotes(id);
    if (isDeepStrictEqual(shown, [])) return false;
    [text, notes] = await Promise.all([explain('--all'), told()]);
    const lines = notes.flatMap((note) => note.text.split('\n'));
    return (
      notes.length > 0 &&
      (isChanged || isDeepStrictEqual(shown, notes)) &&
      lines.every((line) => isPrinted(line, text))
    );
  };
  await expect.poll(isWritten).toBe(true);
  return notes;
}

async function consoleNotes(id: string): Promise<readonly NoteJson[]> {
  const answer = await fetch(new URL(`/api/request?id=${id}`, running.url), {
    headers: { 'x-sluice-session': session },
  });
  if (!answer.ok) return [];
  const page = (await answer.json()) as { readonly stored: Told; readonly now?: Told };
  return [...page.stored.notes, ...(page.now?.notes ?? [])];
}

const MISSED = {
  kind: 'b',
  n: 1,
  event: { name: 'incident.triggered' },
  data: '{"kind":"lead"}',
  meta: { 'app.io/rev': 'a' },
};
const MANY = { late: 1, a: 1, b: 1, c: 1, d: 1, e: 1, ref: 'maintenance' };
const ODD = { id: 1, data: '{"kind":"lead"}' };

type Sent = readonly [path: string, body: unknown, headers?: Record<string, string>];

const CODED_REQUESTS: readonly Sent[] = [
  ['rendered', { payload: { name: 'a' }, query: 'avg(x)' }],
  ['rendered', {}],
  ['rendered', JSON.stringify('{"name":"sent twice over"}')],
  ['odd', ODD],
];

const REQUESTS: readonly Sent[] = [
  ['many', MANY],
  ['missed', MISSED, { 'x-api-key': 'secret-of-a-sender' }],
  ['missed', { type: 'url_verification', challenge: 'abc' }],
  ['missed', [{ other: 'b' }]],
  ['missed', { payload: '{"a":1}' }],
  ['inner', { alerts: [{ name: 'n', state: 's' }] }],
  ['nothing', {}],
  ['unkept', { kind: 'Order' }],
  ['bot', { done: 'false', event: { bot_id: 'B' } }],
  ['rooted', { kind: 'a', name: 'b' }],
  ['commits', { head_commit: null }],
  ['missed', { zen: 'x' }, { 'x-github-event': 'ping' }],
  ['again', { at: 1772463720 }],
  ['again', {}],
  ['misse', {}],
  ['missed', {}, { authorization: 'Bearer wrong' }],
];

const PING: Sent = ['unkept', { zen: 'x' }, { 'x-github-event': 'ping' }];

async function notesOfAll(requests: readonly Sent[]): Promise<readonly NoteJson[]> {
  const notes: NoteJson[] = [];
  for (const [path, body, headers = {}] of requests) {
    // One after the other, as each reads the files.
    // oxlint-disable-next-line no-await-in-loop
    const { requestId } = await running.send(path, body, headers);
    // oxlint-disable-next-line no-await-in-loop
    notes.push(...(await notesOf(requestId)));
  }
  return notes;
}

test('each note is in text, JSON and console, and every kind of note was seen', async () => {
  const notes: NoteJson[] = [];
  // The same one below is its repeat.
  await running.send('odd', ODD);
  notes.push(...(await notesOfAll(CODED_REQUESTS)));
  rmSync(join(folder.path, 'mappings/coded.yaml'));
  await running.service.reload();
  await running.send('again', { at: 1772463720 });
  notes.push(...(await notesOfAll(REQUESTS)));
  // The service looks for advice on a few requests a second only, so this one is sent until it had its turn.
  const isAdvised = async (): Promise<boolean> => {
    const pinged = await notesOfAll([PING]);
    notes.push(...pinged);
    return pinged.some(({ code }) => code === 'decision');
  };
  await expect.poll(isAdvised).toBe(true);
  notes.push(...(await afterChange()), ...(await besideCatchAll()), ...notesOfCause());
  const seen = new Set(notes.map(({ code }) => code));
  // What is only in decisions of an earlier version is seen in test/frontends/cli/refusal.test.ts and test/upgrade; what only the
  // role view is told, in test/frontends/console/listener.guarantee.test.ts.
  expect(NOTE_CODES.filter((code) => !seen.has(code))).toEqual(['detail', 'older', 'hidden']);
});

/** Requests that came before the mappings were changed. */
async function afterChange(): Promise<readonly NoteJson[]> {
  const unknown = await running.send('soon', {});
  const missed = await running.send('outer', { alerts: 1 });
  await expect.poll(() => consoleNotes(missed.requestId)).not.toEqual([]);
  const changed = `${MAPPINGS.replace('forEach: alerts, ', '')}
- { id: soon, match: { path: soon }, messageTemplate: x }\n`;
  writeFileSync(join(folder.path, 'mappings/order.yaml'), changed);
  await running.service.reload();
  return [...(await notesOf(unknown.requestId, true)), ...(await notesOf(missed.requestId, true))];
}

/** A mapping without a path would take all names that no mapping has. */
async function besideCatchAll(): Promise<readonly NoteJson[]> {
  const proved = `{ scheme: token, secrets: ['\${SLUICE_HOOK_TOKEN}'] }`;
  writeFileSync(
    join(folder.path, 'mappings/order.yaml'),
    `- { id: own, match: { path: own, when: { '===': [{ var: kind }, a] } }, verify: ${proved}, messageTemplate: x }
- { id: rest, messageTemplate: x }\n`,
  );
  await running.service.reload();
  const { requestId } = await running.send('own', { kind: 'b' });
  return notesOf(requestId);
}

/** An error of the mapping that has a cause, which no template of today makes. */
function notesOfCause(): readonly NoteJson[] {
  const error = new HookError('mapping_failed', 'it failed', { cause: new Error('because of that') });
  const evaluation = {
    outcome: { kind: 'rejected', error },
    warnings: [],
    trace: { considered: [], templates: [], transforms: [] },
  } as const;
  const request = createHookRequest({ path: 'a', payload: {}, receivedAt: 0 });
  const advice = { findings: [], suggestions: new Map() };
  const { notes } = explanationToJson({ request, evaluation, advice });
  const text = formatEvaluation(evaluation, { advice });
  for (const line of notes.flatMap((note) => note.text.split('\n'))) expect(text).toContain(line);
  return notes;
}
