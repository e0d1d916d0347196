/** Stores the file that is being changed, and what the change would do. */
import { batch, computed, effect, signal } from '@preact/signals';
import type {
  AuthorFile,
  DraftAnswer,
  FileContent,
  ShownFinding,
  Impact,
  Judgement,
  RequestPage,
  SaveAnswer,
} from '../protocol.ts';
import { getJson, isAborted, messageOf, postJson } from './api.ts';
import { count } from './format.ts';
import { rows, state } from './inbox-store.ts';
import { say } from './toast.ts';

const PAUSE_MS = 250;
const MAX_CHOICES = 100;

export const files = signal<readonly AuthorFile[]>([]);
export const opened = signal<FileContent | undefined>(undefined);
export const text = signal('');
export const findings = signal<readonly ShownFinding[]>([]);
export const judgement = signal<Judgement | undefined>(undefined);
export const impact = signal<Impact | undefined>(undefined);
export const busy = signal<'' | 'draft' | 'impact'>('');
export const problem = signal('');
/** The file on the disk differs from the one that was opened. */
export const isChangedOutside = signal(false);
export const requestId = signal('');
export const request = signal<RequestPage | undefined>(undefined);

/** Counts files that were read, because the editor shows each anew. */
export const readings = signal(0);
/** The line of the mapping that was asked for; used once. */
export const wantedLine = signal(0);

export const isDirty = computed(() => opened.value !== undefined && opened.value.text !== text.value);
export const choices = computed(() => rows.value.slice(0, MAX_CHOICES));

let round = new AbortController();
let timer: ReturnType<typeof setTimeout> | undefined;

/** A failure is shown, unless nobody waits for it any more. */
function tried<Found>(work: () => Promise<Found>): Promise<Found | undefined> {
  return work().catch((error: unknown) => {
    if (!isAborted(error)) problem.value = messageOf(error);
    return undefined;
  });
}

const loadFiles = (): Promise<unknown> =>
  tried(
    async () =>
      (files.value = (await getJson<{ readonly files: readonly AuthorFile[] }>('/api/files')).files),
  );

const readFile = (name: string): Promise<FileContent> =>
  getJson(`/api/file?name=${encodeURIComponent(name)}`);

function show(content: FileContent): void {
  batch(() => {
    readings.value += 1;
    opened.value = content;
    text.value = content.text;
    isChangedOutside.value = false;
    findings.value = [];
    impact.value = undefined;
    problem.value = '';
  });
  changed(content.text, 0);
}

export const openFile = (name: string): Promise<void> => tried(async () => show(await readFile(name)));

export async function chooseRequest(id: string): Promise<void> {
  requestId.value = id;
  request.value = undefined;
  judgement.value = undefined;
  if (id === '') return;
  await tried(async () => {
    const page = await getJson<RequestPage>(`/api/request?id=${encodeURIComponent(id)}`);
    if (requestId.value !== id) return;
    request.value = page;
    judgement.value = page.now;
    if (opened.value !== undefined) changed(text.value, 0);
  });
}

export const chosenRequest = (): { readonly request?: string } =>
  requestId.value === '' ? {} : { request: requestId.value };

/** Reacts to a changed text: after a pause it is checked and tried, and a round that is under way ends. */
export function changed(next: string, pauseMs = PAUSE_MS): void {
  text.value = next;
  round.abort();
  clearTimeout(timer);
  timer = setTimeout(() => void tryDraft(), pauseMs);
}

async function tryDraft(): Promise<void> {
  const file = opened.value?.name;
  if (file === undefined) return;
  round = new AbortController();
  const { signal: isOver } = round;
  const draft = { file, text: text.value };
  busy.value = 'draft';
  await tried(async () => {
    const answer = await postJson<DraftAnswer>('/api/draft', { ...draft, ...chosenRequest() }, isOver);
    findings.value = answer.findings;
    if (answer.judgement !== undefined) judgement.value = answer.judgement;
    if (answer.findings.some(({ severity }) => severity === 'error')) impact.value = undefined;
    else {
      busy.value = 'impact';
      const found = await postJson<Partial<Impact>>('/api/impact', draft, isOver);
      impact.value = found.changes === undefined ? undefined : (found as Impact);
    }
    problem.value = '';
  });
  if (!isOver.aborted) busy.value = '';
}

export async function save(): Promise<void> {
  const file = opened.value;
  if (file === undefined || !isDirty.value) return;
  const written = text.value;
  await tried(async () => {
    const { name, version } = file;
    const answer = await postJson<SaveAnswer>('/api/save', { file: name, text: written, version });
    isChangedOutside.value = answer.kind === 'changed';
    if (answer.kind === 'changed') return;
    opened.value = { name, text: written, version: answer.version };
    changed(text.value, 0);
    const live = `, but it is not live: ${count(answer.findings, 'finding')}; what was live before goes on`;
    say(`saved ${name}${answer.findings === 0 ? '' : live}`);
  });
}

/** A file that is not being changed here is read again when it has changed on the disk. */
async function lookAtDisk(): Promise<void> {
  const file = opened.value;
  void loadFiles();
  if (file === undefined) return;
  await tried(async () => {
    const content = await readFile(file.name);
    // Meanwhile another file may have been opened, or this one changed here.
    if (opened.value?.name !== file.name || opened.value.version === content.version) return;
    if (isDirty.value) isChangedOutside.value = true;
    else show(content);
  });
}

/** Begins to work; returns how to end. `place` is where the chosen request's mapping stands. */
export function startAuthor({ id, at }: { readonly id: string; readonly at: string }): () => void {
  void loadFiles().then(() => {
    const name = at.replace(/:\d+:\d+$/, '');
    wantedLine.value = Number(/:(\d+):\d+$/.exec(at)?.[1] ?? 0);
    const first = files.value.find((file) => file.name === name) ?? files.value[0];
    if (isDirty.value) changed(text.value, 0);
    else if (opened.value === undefined || name !== '') void (first && openFile(first.name));
  });
  if (id !== '' && id !== requestId.value) void chooseRequest(id);
  const stopChoosing = effect(() => {
    const newest = rows.value[0];
    if (newest !== undefined && requestId.peek() === '') void chooseRequest(newest.id);
  });
  let known = state.peek()?.loadedAt;
  const stopWatching = effect(() => {
    const now = state.value?.loadedAt;
    if (known !== undefined && now !== known) void lookAtDisk();
    known = now;
  });
  return () => {
    stopChoosing();
    stopWatching();
  };
}

addEventListener('beforeunload', (event) => {
  if (isDirty.value) event.preventDefault();
});
