/**
 * A small HTTP/1.1 load generator: keep-alive sockets, one request at a time on each, nothing allocated per request
 * but what the socket itself needs. It runs in a process of its own, so that its work is not counted as the server's:
 * `runLoad` starts this file again with its options as JSON and reads one JSON line back.
 */
import { execFile } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export interface LoadOptions {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `@@` in it becomes the number of the connection, of two digits. */
  readonly body: string;
  readonly connections: number;
  readonly seconds: number;
  /** Requests before it are sent but not counted. */
  readonly warmupSeconds: number;
  /**
   * Requests a second. Each has a time when it is due, and is measured from that time even where it had to wait for a
   * free connection. Default: each connection sends as soon as it is answered.
   */
  readonly rate?: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Counted answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Connections that failed or were closed by the server. */
  readonly errors: number;
  /** Microseconds of processor time that the generator took for a request. */
  readonly generatorMicros: number;
}

/** Runs the load from a second process. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [fileURLToPath(import.meta.url), JSON.stringify(options)],
    { timeout: (options.seconds + options.warmupSeconds + 20) * 1000, killSignal: 'SIGKILL' },
  );
  return JSON.parse(stdout) as LoadResult;
}

/** Latencies beyond this many requests are counted but not sampled. */
const MAX_SAMPLES = 4_000_000;

class Load {
  readonly #options: LoadOptions;
  readonly #bytes: Buffer;
  readonly #samples = new Float32Array(MAX_SAMPLES);
  readonly #statuses = new Map<number, number>();
  readonly #sockets = new Set<Socket>();
  /** With a rate: times of requests that wait for a connection, and connections that wait for a request. */
  readonly #due: number[] = [];
  readonly #idle: ((dueAt: number) => void)[] = [];
  #counted = 0;
  #errors = 0;
  #isCounting = false;
  #isOver = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    const body = Buffer.from(options.body);
    const headers = Object.entries({ host: `${options.host}:${options.port}`, ...options.headers });
    const head = [
      `POST ${options.path} HTTP/1.1`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      'content-type: application/json',
      `content-length: ${body.length}`,
    ];
    this.#bytes = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
  }

  async run(): Promise<LoadResult> {
    for (let i = 0; i < this.#options.connections; i += 1) this.#open(i);
    const pace = this.#options.rate === undefined ? undefined : this.#startPace(this.#options.rate);
    await sleep(this.#options.warmupSeconds);
    const cpuBefore = process.cpuUsage();
    const begun = performance.now();
    this.#isCounting = true;
    await sleep(this.#options.seconds);
    this.#isCounting = false;
    const seconds = (performance.now() - begun) / 1000;
    const cpu = process.cpuUsage(cpuBefore);
    this.#isOver = true;
    clearInterval(pace);
    for (const socket of this.#sockets) socket.destroy();
    return this.#result(seconds, cpu.user + cpu.system);
  }

  #startPace(rate: number): NodeJS.Timeout {
    const begun = performance.now();
    let sent = 0;
    return setInterval(() => {
      for (const due = ((performance.now() - begun) / 1000) * rate; sent < due; sent += 1) {
        const dueAt = begun + (sent / rate) * 1000;
        // The one that was idle longest: a server closes those that stay idle.
        const send = this.#idle.shift();
        if (send === undefined) this.#due.push(dueAt);
        else send(dueAt);
      }
    }, 1);
  }

  #open(index: number): void {
    const bytes = numbered(this.#bytes, index);
    const { host, port } = this.#options;
    const socket = connect({ host, port, noDelay: true });
    this.#sockets.add(socket);
    let sentAt = 0;
    let pending: Buffer | undefined;
    const send = (dueAt: number): void => {
      sentAt = dueAt;
      socket.write(bytes);
    };
    const sendNext = (): void => {
      if (this.#options.rate === undefined) return send(performance.now());
      const dueAt = this.#due.shift();
      if (dueAt === undefined) this.#idle.push(send);
      else send(dueAt);
    };
    socket.on('connect', sendNext);
    socket.on('data', (chunk: Buffer) => {
      const received = pending === undefined ? chunk : Buffer.concat([pending, chunk]);
      const status = readAnswer(received);
      pending = status === undefined ? received : undefined;
      if (status === undefined || this.#isOver) return;
      if (this.#isCounting) this.#count(status, performance.now() - sentAt);
      sendNext();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (this.#isOver) return;
      this.#errors += 1;
      if (this.#errors < 1000) this.#open(index);
    });
  }

  #count(status: number, tookMs: number): void {
    if (this.#counted < MAX_SAMPLES) this.#samples[this.#counted] = tookMs;
    this.#counted += 1;
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
  }

  #result(seconds: number, generatorMicros: number): LoadResult {
    const sorted = this.#samples.subarray(0, Math.min(this.#counted, MAX_SAMPLES)).sort();
    const at = (fraction: number): number =>
      Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? 0) * 1000) /
      1000;
    return {
      requests: this.#counted,
      requestsPerSecond: Math.round(this.#counted / seconds),
      p50Ms: at(0.5),
      p90Ms: at(0.9),
      p99Ms: at(0.99),
      maxMs: at(1),
      statuses: Object.fromEntries(this.#statuses),
      errors: this.#errors,
      generatorMicros: Math.round((generatorMicros / this.#counted) * 10) / 10,
    };
  }
}

function numbered(bytes: Buffer, index: number): Buffer {
  const at = bytes.indexOf('@@');
  if (at < 0) return bytes;
  const copy = Buffer.from(bytes);
  copy.write(String(index % 100).padStart(2, '0'), at, 'latin1');
  return copy;
}

/** The status of a complete answer with a Content-Length (or 204), or undefined while bytes are missing. */
function readAnswer(bytes: Buffer): number | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const status = Number(bytes.toString('latin1', 9, 12));
  if (status === 204) return status;
  const head = bytes.toString('latin1', 0, headEnd).toLowerCase();
  const at = head.indexOf('content-length: ');
  const length = at < 0 ? 0 : Number.parseInt(head.slice(at + 16), 10);
  return bytes.length >= headEnd + 4 + length ? status : undefined;
}

function sleep(seconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000);
  });
}

if (import.meta.main) {
  const options = JSON.parse(process.argv[2] ?? '{}') as LoadOptions;
  process.stdout.write(`${JSON.stringify(await new Load(options).run())}\n`);
}
