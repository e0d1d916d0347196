/** The supervisor's side of one worker process: its process, its frames, its queue of jobs, its death. */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { processorMsOf, type ProcessState, stateOf } from '../../../base/process-use.ts';
import { decodeAnswer, encodeRequest, FrameReader, type WorkerAnswer } from '../frames.ts';
import { STATUS } from '../names.ts';
import type { ModuleJob, PooledModule } from './job-queue.ts';
import { workerCommand, type WorkerSettings } from './worker-command.ts';

export type KillCause =
  'deadline' | 'memory' | 'recycled' | 'protocol' | 'stopped' | 'boot' | 'suspended' | 'starved';

/** How a worker came to its end; `undefined` is a death of its own. */
export type DeathCause = KillCause | undefined;

export interface WorkerListener {
  ready(worker: Worker): void;
  /** `ranMs` counts from when nothing else ran before it. */
  answered(worker: Worker, job: ModuleJob, answer: WorkerAnswer, ranMs: number): void;
  /** No answer will come any more, though a killed process may take a while to go. */
  lost(worker: Worker, cause: DeathCause): void;
  /** The process is gone; `lost` was said before. */
  died(worker: Worker): void;
}

/** A worker that is not ready by then never will be; it takes 60 ms, on a busy machine half a second. */
const BOOT_TIMEOUT_MS = 10_000;
const COMPLAINT_CHARS = 4096;
const MANY_FRAMES = 8;
const GRACE_MS = 250;
/** With less of the processor than this in its time a call was not given it, and nothing is known of it. */
export const STARVED_SHARE = 0.1;
/** Calls shorter than this do not need their memory watched. */
const WATCH_AFTER_MS = 40;
const MEMORY_CAP_BYTES = 512 * 1024 * 1024;

export class Worker {
  readonly settings: WorkerSettings;
  /** Sent and not answered, in order; the first one runs. */
  readonly jobs: ModuleJob[] = [];
  /** What the processor had given when the job that runs was first seen. */
  #seen: ProcessorSample | undefined;
  readonly #process: ChildProcess;
  readonly #socket: Socket;
  readonly #listener: WorkerListener;
  readonly #reader = new FrameReader();
  readonly #loaded = new Set<number>();
  readonly #bootTimer: NodeJS.Timeout;
  readonly #out: Buffer[] = [];
  #lastReplyAt = 0;
  #livedAt = performance.now();
  #killCause: DeathCause;
  #isReady = false;
  #isDead = false;
  #complaint = '';

  constructor(settings: WorkerSettings, listener: WorkerListener) {
    this.settings = settings;
    this.#listener = listener;
    const { file, argv, env } = workerCommand(settings);
    this.#process = spawn(file, argv, { stdio: ['pipe', 'ignore', 'pipe', 'pipe'], env, cwd: '/' });
    this.#socket = this.#process.stdio[3] as Socket;
    this.#process.stdin?.on('error', ignore).end(settings.program);
    this.#process.stderr?.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString('latin1')).slice(-COMPLAINT_CHARS);
    });
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk)).on('error', ignore);
    this.#process.on('error', () => this.#die());
    this.#process.on('exit', () => this.#die());
    this.#bootTimer = setTimeout(() => this.kill('boot'), BOOT_TIMEOUT_MS).unref();
    this.#unref();
  }

  /** An idle pool keeps no command alive; the supervisor's own timer does while there is work. */
  #unref(): void {
    this.#process.unref();
    this.#socket.unref();
    (this.#process.stderr as Socket | null)?.unref();
    (this.#process.stdin as Socket | null)?.unref();
  }

  get isReady(): boolean {
    return this.#isReady && !this.#isDead && this.#killCause === undefined;
  }

  get wasReady(): boolean {
    return this.#isReady;
  }

  /** The latest time after which it is known to have done something: its start, or the sending of the last job that it answered. */
  get livedAt(): number {
    return this.#livedAt;
  }

  /** Since when the first job has been running; undefined where the worker is idle. */
  get headSince(): number | undefined {
    const head = this.jobs[0];
    return head === undefined ? undefined : Math.max(head.sentAt, this.#lastReplyAt);
  }

  send(job: ModuleJob): void {
    const { number: module, body } = job.module;
    job.sentAt = performance.now();
    this.jobs.push(job);
    if (!this.#loaded.has(module)) {
      this.#loaded.add(module);
      this.#write(encodeRequest({ kind: 'load', module, body }));
    }
    const { id, timeoutMs, asked, json, bytes } = job;
    this.#write(encodeRequest({ ...asked, id, module, timeoutMs }, json, bytes));
  }

  /** Lets the worker forget a module after the calls it already has. */
  drop({ number: module }: PooledModule): void {
    if (this.#loaded.delete(module) && !this.#isDead) this.#write(encodeRequest({ kind: 'drop', module }));
  }

  /** Whether it was sent a module and has not forgotten it. */
  has(module: PooledModule): boolean {
    return this.#loaded.has(module.number);
  }

  kill(cause: KillCause): void {
    if (this.#isDead || this.#killCause !== undefined) return;
    this.#killCause = cause;
    this.#process.kill('SIGKILL');
    // The system takes a tenth of a second to clear away half a gigabyte; nobody has to wait for that.
    this.#listener.lost(this, cause);
  }

  /** Ends the process where its first job has run past its limit and a grace, or where it holds too much. */
  watch(now: number): void {
    const [head] = this.jobs;
    const since = this.headSince;
    if (head === undefined || since === undefined || now - since <= WATCH_AFTER_MS) return;
    // What was not seen before is looked at once more: this process may not have been given the processor either.
    if (this.#seen?.job !== head) {
      this.#seen = { job: head, at: now, cpuMs: processorMsOf(this.#process.pid) };
      return;
    }
    if (now - since > head.timeoutMs + GRACE_MS) {
      this.kill(isStarved(this.#seen, now, processorMsOf(this.#process.pid)) ? 'starved' : 'deadline');
      return;
    }
    const found = this.look();
    // A signal from outside stopped it, which no transform can do.
    if (found?.isSuspended === true) this.kill('suspended');
    else if (found !== undefined && found.rssBytes > MEMORY_CAP_BYTES) this.kill('memory');
  }

  /** What the system says of the process; undefined where the platform does not tell. */
  look(): ProcessState | undefined {
    return stateOf(this.#process.pid);
  }

  /** Frames of one turn leave in one write, which wakes the worker once; many leave at once, as it may be idle. */
  #write(frame: Buffer): void {
    if (this.#out.push(frame) === 1) setImmediate(() => this.#flush());
    else if (this.#out.length === MANY_FRAMES) this.#flush();
  }

  #flush(): void {
    const out = this.#out.splice(0);
    if (out.length > 0 && !this.#isDead) this.#socket.write(Buffer.concat(out));
  }

  #receive(chunk: Buffer): void {
    if (this.#isDead || this.#killCause !== undefined) return;
    for (const frame of this.#reader.push(chunk) ?? [undefined]) {
      const answer = frame === undefined ? undefined : decodeAnswer(frame);
      if (answer?.status === STATUS.ready) {
        this.#isReady = true;
        clearTimeout(this.#bootTimer);
        this.#listener.ready(this);
        continue;
      }
      const job = this.jobs[0];
      if (answer === undefined || job === undefined || answer.id !== job.id) {
        this.kill('protocol');
        return;
      }
      const since = this.headSince ?? 0;
      this.jobs.shift();
      this.#livedAt = job.sentAt;
      this.#lastReplyAt = performance.now();
      this.#listener.answered(this, job, answer, this.#lastReplyAt - since);
    }
  }

  #die(): void {
    if (this.#isDead) return;
    this.#isDead = true;
    clearTimeout(this.#bootTimer);
    this.#socket.destroy();
    if (this.#killCause === undefined) {
      // V8 says so itself when the data limit stops it; the transform cannot write there.
      this.#listener.lost(this, /out of memory|OOM/i.test(this.#complaint) ? 'memory' : undefined);
    }
    this.#listener.died(this);
  }
}

function ignore(): void {
  // The pipe breaks when the process is killed, which its exit reports.
}

interface ProcessorSample {
  readonly job: ModuleJob;
  readonly at: number;
  /** Undefined where the platform does not tell. */
  readonly cpuMs: number | undefined;
}

/** Whether the job that runs hardly got the processor since it was first seen; a transform cannot sleep. */
function isStarved(seen: ProcessorSample, now: number, cpuMs: number | undefined): boolean {
  if (seen.cpuMs === undefined || cpuMs === undefined) return false;
  return cpuMs - seen.cpuMs < (now - seen.at) * STARVED_SHARE;
}
