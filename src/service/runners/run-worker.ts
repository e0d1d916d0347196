/*
 * The other end of a runner of kind `worker`: asks a service for runs, and takes their turns as a runner of a service does.
 *
 * A run that was taken has a file until its end was handed over, with the process that takes it, and then its end. So
 * nothing of it is lost where the network, the service or this process is: who starts on the same files hands over what
 * ended, and says of what it finds cut off that nobody knows its end.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defined, readJson } from '../../base/json.ts';
import { codeOf } from '../../base/telemetry/telemetry.ts';
import {
  connectionCode,
  connectionText,
  fetchJson,
  type JsonAnswer,
  textField,
} from '../../base/outgoing/outgoing.ts';
import { armTimer, pause } from '../../base/timers/timers.ts';
import { writeSecretFile } from '../../base/write-file.ts';
import { endLeftTurn } from './command-workspace.ts';
import { readStartTicks } from './process-tree.ts';
import { notStarted, type Runner, type TurnResult } from './runner.ts';
import { type GivenRun, workerProtocol } from './worker-protocol.ts';

const WAIT_SECONDS = 25;
/** An answer that takes longer is given up, and asked for again. */
const ASK_MS = 40_000;
/** Well within the shortest lease, 10 s: a worker that waits to ask again must not count as silent. */
const MAX_PAUSE_MS = 3_000;
/** The pause after a refusal, which is not expected to change soon. */
const REFUSED_PAUSE_MS = 30_000;
/** A worker that stops tries so long to hand over an end; the next one goes on. */
const LAST_TRIES_MS = 10_000;
/** A prompt with its history, and an end, as JSON. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** What is kept of a run until its end was handed over. */
interface KeptRun {
  readonly runId: string;
  readonly attempt: string;
  readonly owner: { readonly pid: number; readonly startTicks: string };
  readonly process?: { readonly pgid: number; readonly startTicks: string };
  /** The result, or what else the service is to hear. */
  readonly end?: object;
}

export interface RunWorkerOptions {
  /** The address of the service. */
  readonly url: string;
  readonly token: string;
  readonly name: string;
  readonly access?: string | undefined;
  /** Where runs under way are kept. */
  readonly folder: string;
  /** Folders by the names that mappings give them. */
  readonly workFolders: Readonly<Record<string, string>>;
  /** Makes the runner of a turn whose reply may have so many bytes. */
  readonly runner: (maxReplyBytes: number) => Runner;
  readonly say: (line: string) => void;
}

/** The service refuses this worker, as it will the next time. */
export class WorkerRefused extends Error {
  override readonly name = 'WorkerRefused';
}

export class RunWorker {
  readonly #options: RunWorkerOptions;
  readonly #stopping: AbortSignal;
  #runner: string | undefined;
  #isCutOff = false;
  #isRefused = false;

  constructor(options: RunWorkerOptions, stopping: AbortSignal) {
    this.#options = options;
    this.#stopping = stopping;
  }

  /**
   * Takes runs until it is to stop; the turn under way is finished.
   * @throws WorkerRefused where the service does not know the token when it is first asked
   */
  async work(): Promise<void> {
    await mkdir(this.#options.folder, { recursive: true, mode: 0o700 });
    for (const kept of await this.#findLeft()) await this.#handOver(kept);
    let attempt = randomUUID();
    while (!this.#stopping.aborted) {
      const run = await this.#take(attempt);
      if (run === undefined) continue;
      await this.#perform(run);
      attempt = randomUUID();
    }
  }

  /** The same attempt is asked for until there was an answer: it may have been given a run already. */
  async #take(attempt: string): Promise<GivenRun | undefined> {
    const { name: worker, access, say } = this.#options;
    const waitSeconds = this.#runner === undefined ? 0 : WAIT_SECONDS;
    const body = { worker, waitSeconds, attempt, ...defined({ access }) };
    const { status, body: said } = await this.#askUntilAnswered(':take', body, this.#stopping);
    if (status !== 200) {
      if (this.#runner === undefined && status !== 0) throw new WorkerRefused(refusalOf(status));
      if (status !== 0 && !this.#isRefused) say(`no runs for now: ${refusalOf(status)}; it is asked again`);
      this.#isRefused = status !== 0;
      await pause(REFUSED_PAUSE_MS, this.#stopping);
      return undefined;
    }
    const taken = workerProtocol.takenSchema.safeParse(said);
    if (!taken.success) throw new WorkerRefused('what answers there is no service of this version');
    if (this.#isRefused) say('the service takes this worker again');
    this.#isRefused = false;
    if (this.#runner === undefined)
      say(`connected as ${taken.data.runner}. Waiting for runs (Ctrl-C finishes the turn under way).`);
    this.#runner = taken.data.runner;
    return taken.data.run ?? undefined;
  }

  async #perform(run: GivenRun): Promise<void> {
    const { say } = this.#options;
    const startedAt = performance.now();
    const owner = { pid: process.pid, startTicks: readStartTicks(process.pid) };
    let kept: KeptRun = { runId: run.id, attempt: run.attempt, owner };
    await this.#keep(kept);
    const [ended, stop] = [new AbortController(), new AbortController()];
    let isOver = false;
    const renewing = this.#renew(run, ended.signal, stop).then((is) => (isOver = is));
    say(`run ${run.id} begins`);
    const result = await this.#takeTurn(run, stop.signal, async (mark) => {
      kept = { ...kept, process: mark };
      await this.#keep(kept);
    });
    const what = result.kind === 'completed' ? result.outcome : 'not begun';
    const error = result.kind === 'completed' ? result.error : result;
    // What a program wrote stands below the first line.
    const why = error === undefined ? '' : ` (${error.code}: ${error.message.split('\n', 1)[0]})`;
    const tookSeconds = Math.round((performance.now() - startedAt) / 1000);
    say(`run ${run.id} ended: ${what}${why}, after ${tookSeconds} s`);
    stop.abort();
    if (isOver) return this.#forget(run.id);
    kept = { ...kept, end: result };
    await this.#keep(kept);
    // The lease is renewed until the end was taken: the network may be away for longer than the lease.
    await this.#handOver(kept);
    ended.abort();
    await renewing;
  }

  async #takeTurn(
    run: GivenRun,
    signal: AbortSignal,
    onProcess: (mark: { readonly pgid: number; readonly startTicks: string }) => Promise<void>,
  ): Promise<TurnResult> {
    const { runner, workFolders } = this.#options;
    const { turn, folder } = run;
    const cwd = folder === undefined ? undefined : workFolders[folder];
    if (folder !== undefined && cwd === undefined) {
      const message = `the worker knows no folder ${folder}: start it with --folder ${folder}=PATH`;
      return notStarted('not_configured', message, { final: true });
    }
    const ready = { ...turn, runId: run.id, message: turn.prompt, ...defined({ cwd }) };
    return runner(run.maxReplyBytes).run(ready, { signal, onProcess });
  }

  /** Says again and again that the turn goes on; resolves to whether the run was given away, or has ended. */
  async #renew(run: GivenRun, ended: AbortSignal, stop: AbortController): Promise<boolean> {
    const { attempt, leaseSeconds } = run;
    const everyMs = (leaseSeconds * 1000) / 4;
    for (;;) {
      await pause(everyMs, ended);
      if (ended.aborted) return false;
      const { status, body } = await this.#askUntilAnswered(`/${run.id}:renew`, { attempt }, ended, everyMs);
      const why = status === 409 ? 'it was given to another worker, or has ended' : textField(body, 'end');
      if (why === undefined || stop.signal.aborted) continue;
      this.#options.say(`run ${run.id} is ended here: ${why}`);
      stop.abort();
      if (status === 409) return true;
    }
  }

  /** Hands over how a run ended, and forgets it; what cannot be handed over before a stop stays for the next start. */
  async #handOver({ runId, attempt, end }: KeptRun): Promise<void> {
    const { say } = this.#options;
    const over = new AbortController();
    let cancel = (): void => {};
    const giveUp = (): void => void (cancel = armTimer(LAST_TRIES_MS, () => over.abort()));
    if (this.#stopping.aborted) giveUp();
    this.#stopping.addEventListener('abort', giveUp, { once: true });
    const send = (how: object | undefined) =>
      this.#askUntilAnswered(`/${runId}:finish`, { attempt, ...how }, over.signal);
    let { status } = await send(end);
    if (status === 413) {
      const error = {
        code: 'reply_too_large',
        message: 'the reply is longer than maxReplyBytes of the runner',
      };
      ({ status } = await send({ kind: 'completed', outcome: 'error', error }));
    }
    this.#stopping.removeEventListener('abort', giveUp);
    cancel();
    // With another token, address or version the next start hands it over.
    const why = status === 0 ? '' : ` (${refusalOf(status)})`;
    if (status !== 200 && status !== 409)
      return say(`run ${runId}: its end is kept in ${this.#options.folder} for the next start${why}`);
    if (status === 409) say(`run ${runId}: its end was not taken: the run has another one`);
    await this.#forget(runId);
  }

  /** Runs that a worker left that is gone; what still goes on of them is ended. */
  async #findLeft(): Promise<readonly KeptRun[]> {
    const { folder } = this.#options;
    const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
    const all = await Promise.all(
      names.map(async (name) => readJson(await readFile(join(folder, name), 'utf8'))),
    );
    const left = (all as (KeptRun | undefined)[]).filter((kept) => kept !== undefined).filter(isLeft);
    return Promise.all(
      left.map(async (kept) => {
        const { runId, end, process: mark } = kept;
        if (end !== undefined) return kept;
        await endLeftTurn(runId, mark);
        // A command gets its prompt once its process is on record.
        const unbegun = notStarted('interrupted', 'the worker ended before the turn had begun');
        return { ...kept, end: mark === undefined ? unbegun : { kind: 'interrupted' } };
      }),
    );
  }

  /** Asks until there is an answer that asking again would not change. */
  async #askUntilAnswered(
    path: string,
    body: object,
    signal: AbortSignal,
    askMs = ASK_MS,
  ): Promise<Pick<JsonAnswer, 'status' | 'body'>> {
    const { url, token, say } = this.#options;
    for (let pauseMs = 500; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      if (signal.aborted) return { status: 0, body: undefined };
      let why: string;
      let retryAfterMs = 0;
      try {
        const answer = await fetchJson(`${url}/workers/runs${path}`, {
          headers: { authorization: `Bearer ${token}` },
          body,
          signal: AbortSignal.any([signal, AbortSignal.timeout(askMs)]),
          maxBytes: MAX_ANSWER_BYTES,
        });
        if (answer.status !== 408 && answer.status !== 429) {
          if (this.#isCutOff) say('the service answers again');
          this.#isCutOff = false;
          return answer;
        }
        ({ retryAfterMs = 0 } = answer);
        why = answer.status === 408 ? 'it has not got the whole request' : 'it asks for a pause';
      } catch (error) {
        const code = connectionCode(error);
        why = code === undefined ? codeOf(error) : connectionText(code);
      }
      if (!this.#isCutOff && !signal.aborted) say(`the service does not answer (${why}); it is asked again`);
      this.#isCutOff = true;
      await pause(Math.max(pauseMs, retryAfterMs), signal);
    }
  }

  #keep(kept: KeptRun): Promise<void> {
    return writeSecretFile(this.#fileOf(kept.runId), JSON.stringify(kept));
  }

  async #forget(runId: string): Promise<void> {
    await rm(this.#fileOf(runId), { force: true });
  }

  #fileOf(runId: string): string {
    return join(this.#options.folder, `${runId}.json`);
  }
}

/** Whether the worker that had a run is gone; a pid is used again. */
function isLeft({ owner: { pid, startTicks } }: KeptRun): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  return readStartTicks(pid) !== startTicks;
}

function refusalOf(status: number): string {
  if (status === 401) return 'the service does not know this token, or has no runner of kind worker with it';
  if (status === 404)
    return 'there is no runner of kind worker at this address, or workers have a port of their own';
  return `the service answered ${status}`;
}
