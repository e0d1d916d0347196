/** Counts what runs in an isolate, by V8's own block coverage. Runs in the worker process only. */
import type ivm from 'isolated-vm';

/** V8's answer, as far as it is used: per function its ranges, the outermost first, offsets into the script. */
export interface RawCoverage {
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly {
      readonly startOffset: number;
      readonly endOffset: number;
      readonly count: number;
    }[];
  }[];
}

/**
 * The inspector of an isolate answers from a thread of its own: every message is awaited, and nothing is let go while
 * one is under way, which would end the process.
 */
export class IsolateCoverage {
  readonly #session: ivm.InspectorSession;
  readonly #waiting = new Map<number, (message: string) => void>();
  #nextId = 1;

  private constructor(isolate: ivm.Isolate) {
    this.#session = isolate.createInspectorSession();
    this.#session.onResponse = (id, message) => {
      this.#waiting.get(id)?.(message);
      this.#waiting.delete(id);
    };
    this.#session.onNotification = () => undefined;
  }

  /** Has to be done before the code to be counted is compiled. */
  static async start(isolate: ivm.Isolate): Promise<IsolateCoverage> {
    const coverage = new IsolateCoverage(isolate);
    await coverage.#send('Profiler.enable');
    await coverage.#send('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    return coverage;
  }

  /** What ran of one file since the last time. */
  async take(file: string): Promise<RawCoverage> {
    const answer = JSON.parse(await this.#send('Profiler.takePreciseCoverage')) as {
      result: { result: (RawCoverage & { readonly url: string })[] };
    };
    return {
      functions: answer.result.result.filter(({ url }) => url === file).flatMap(({ functions }) => functions),
    };
  }

  #send(method: string, params: object = {}): Promise<string> {
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#session.dispatchProtocolMessage(JSON.stringify({ id, method, params }));
    });
  }
}
