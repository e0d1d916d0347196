/** One transform in its own isolate, as a worker holds it. Runs in the worker process only. */
import ivm from 'isolated-vm';
import type { WorkerAnswer, CallPins, LoadBody } from '../frames.ts';
import { LINKED_NAME, MODULE_FILE, SCRIPT_PREFIX, STATUS, type Status } from '../names.ts';

/** Compiling, freezing and linking take 3 ms; a module's own top level runs within a call's limit. */
const SETUP_TIMEOUT_MS = 2000;

/** `isolate/realm.ts` as one function expression that prepares a realm; the bundler of this program defines it. */
declare const REALM_SCRIPT: string;

type Start = (json: string, now: number, seed: number, key: string) => string | undefined;
type TakeReply = () => string;
type Inspect = () => string;
type ModuleOutcome = Omit<WorkerAnswer, 'id'>;

/** What a call brings along besides its argument. */
type TimedPins = CallPins & { readonly timeoutMs: number };

/** Looking at the heap takes a tenth of a small call; it is done for the first ones, then now and then. */
const RUNS_PER_LOOK = 16;

export class IsolatedModule {
  readonly #settings: LoadBody;
  readonly #isolate: ivm.Isolate;
  readonly #begin: ivm.Reference<Start>;
  readonly #take: ivm.Reference<TakeReply>;
  readonly #inspect: ivm.Reference<Inspect>;
  #heapBytes = 0;
  #runs = 0;

  /** @throws what V8 finds wrong with the code. */
  constructor(settings: LoadBody) {
    this.#settings = settings;
    // No onCatastrophicError: with it a worker deadlocks where it should die.
    this.#isolate = new ivm.Isolate({ memoryLimit: settings.memoryMb });
    const context = this.#isolate.createContextSync();
    const options = { reference: true, timeout: SETUP_TIMEOUT_MS } as const;
    const link: ivm.Reference = context.evalSync(`${REALM_SCRIPT}()`, {
      ...options,
      filename: 'sluice:realm',
    });
    const text = `${SCRIPT_PREFIX}${settings.code}\nreturn ${LINKED_NAME}; })`;
    const factory: ivm.Reference = this.#isolate
      .compileScriptSync(text, { filename: MODULE_FILE, lineOffset: -1 })
      .runSync(context, options);
    const { code: _linked, ...inner } = settings;
    const runner = link.applySync(undefined, [factory.derefInto(), new ivm.ExternalCopy(inner).copyInto()], {
      result: { reference: true },
      timeout: SETUP_TIMEOUT_MS,
    }) as ivm.Reference<Record<string, (...values: never[]) => unknown>>;
    this.#begin = runner.getSync('start', { reference: true }) as ivm.Reference<Start>;
    this.#take = runner.getSync('take', { reference: true }) as ivm.Reference<TakeReply>;
    this.#inspect = runner.getSync('inspect', { reference: true }) as ivm.Reference<Inspect>;
  }

  get heapBytes(): number {
    return this.#heapBytes;
  }

  /** True after a call that left nothing to trust: cut off half way, or out of memory. */
  get spent(): boolean {
    return this.#isolate.isDisposed;
  }

  call(json: string, { now, seed, key, timeoutMs }: TimedPins): ModuleOutcome {
    return this.#run(timeoutMs, (options) =>
      this.#begin.applySync(undefined, [json, now, seed, key], options),
    );
  }

  /** Runs the top level; the value is JSON of `[name, type][]`. */
  inspect(timeoutMs: number): ModuleOutcome {
    return this.#run(timeoutMs, (options) => this.#inspect.applySync(undefined, [], options));
  }

  dispose(): void {
    if (!this.#isolate.isDisposed) this.#isolate.dispose();
  }

  #run(timeoutMs: number, start: (options: { timeout: number }) => string | undefined): ModuleOutcome {
    const cpuBefore = this.#isolate.cpuTime;
    const startedAt = performance.now();
    let thrown: unknown;
    let threw = false;
    let text: string | undefined;
    try {
      text = start({ timeout: timeoutMs });
    } catch (error) {
      thrown = error;
      threw = true;
    }
    if (this.#isolate.isDisposed) return { ...NO_FIGURES, status: STATUS.memory, logs: '', value: '' };
    const { cpuMicros, heapKb } = this.#measure(cpuBefore);
    const ended = (status: Status, value: string, logs = '') => ({ status, cpuMicros, heapKb, logs, value });
    if (threw && performance.now() - startedAt >= timeoutMs) {
      // Microtasks may still be queued, and builtins half done: the isolate is not used again.
      this.dispose();
      return ended(STATUS.timeout, stackOf(thrown));
    }
    const { status, logs, value } = this.#readResult(text);
    // A promise that was rejected and that nobody handled.
    return threw ? ended(STATUS.userError, describe(thrown), logs) : ended(status, value, logs);
  }

  /** To take it has no limit of time, which would cost as much as the step itself: nothing of the transform runs in it. */
  #readResult(text: string = this.#take.applySync()): Pick<ModuleOutcome, 'status' | 'logs' | 'value'> {
    const end = text.indexOf('\n');
    const space = text.indexOf(' ');
    const status = Number(text.slice(0, space)) as Status;
    const logs = text.slice(space + 1, end);
    const value = text.slice(end + 1);
    const tooLarge =
      (status === STATUS.ok || status === STATUS.instance) &&
      value.length * 3 > this.#settings.maxResultBytes;
    if (tooLarge && Buffer.byteLength(value) > this.#settings.maxResultBytes) {
      return { status: STATUS.tooLarge, logs, value: '' };
    }
    return { status, logs, value };
  }

  #measure(cpuBefore: bigint): Pick<ModuleOutcome, 'cpuMicros' | 'heapKb'> {
    const cpuMicros = Number(this.#isolate.cpuTime - cpuBefore) / 1000;
    if (this.#runs < 2 || this.#runs % RUNS_PER_LOOK === 0) this.#measureHeap();
    this.#runs += 1;
    return { cpuMicros: Math.round(cpuMicros), heapKb: Math.round(this.#heapBytes / 1024) };
  }

  #measureHeap(): void {
    try {
      const heap = this.#isolate.getHeapStatisticsSync();
      this.#heapBytes = heap.used_heap_size + heap.externally_allocated_size;
    } catch {
      // After a run that was cut off, entering the isolate throws what its promises had rejected with.
    }
  }
}

const NO_FIGURES = { cpuMicros: 0, heapKb: 0 } as const;

function stackOf(error: unknown): string {
  const stack = error instanceof Error ? error.stack : undefined;
  return typeof stack === 'string' ? stack.slice(0, 8192) : '';
}

/** isolated-vm copies an error's words over; the object itself never leaves the isolate. */
function describe(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const name = error instanceof Error ? error.name : 'NonError';
  return JSON.stringify({ name, message: message.slice(0, 2000), stack: stackOf(error) });
}
