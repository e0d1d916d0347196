/** JSON-RPC 2.0 as the Language Server Protocol frames it: `Content-Length: N`, an empty line, N bytes of JSON. */

/** What is done with each method. A request gets what its handler returns, or resolves to, as its result. */
export interface Handlers {
  readonly requests: Readonly<Record<string, (params: never) => unknown>>;
  readonly notifications: Readonly<Record<string, (params: never) => void>>;
}

interface Message {
  readonly id?: number | string;
  /** Absent of an answer. */
  readonly method?: string;
  readonly params?: unknown;
}

const METHOD_NOT_FOUND = -32_601;
const INTERNAL_ERROR = -32_603;
/** A text that is larger than this is no mapping file. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** One side of a connection. Answers to what it asks are not waited for. */
export class Connection {
  readonly #output: NodeJS.WritableStream;
  #asked = 0;

  constructor(output: NodeJS.WritableStream) {
    this.#output = output;
  }

  notify(method: string, params: unknown): void {
    this.#send({ method, params });
  }

  request(method: string, params: unknown): void {
    this.#asked += 1;
    this.#send({ id: this.#asked, method, params });
  }

  /** Handles messages in their order until `exit` or the end of the input. @throws Error where it is no such stream */
  async listen(input: NodeJS.ReadableStream, { requests, notifications }: Handlers): Promise<void> {
    for await (const { id, method, params } of messagesIn(input)) {
      if (method === 'exit') return;
      if (method === undefined) continue;
      if (id === undefined) notifications[method]?.(params as never);
      else void this.#answer(id, requests[method], params);
    }
  }

  async #answer(id: number | string, handler: Handlers['requests'][string] | undefined, params: unknown) {
    if (handler === undefined)
      return this.#send({ id, error: { code: METHOD_NOT_FOUND, message: 'not known here' } });
    try {
      this.#send({ id, result: (await handler(params as never)) ?? null });
    } catch (error) {
      this.#send({ id, error: { code: INTERNAL_ERROR, message: String(error) } });
    }
  }

  #send(message: object): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#output.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }
}

async function* messagesIn(input: NodeJS.ReadableStream): AsyncGenerator<Message> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of input) {
    rest = Buffer.concat([rest, Buffer.from(chunk)]);
    for (let head = rest.indexOf('\r\n\r\n'); head !== -1; head = rest.indexOf('\r\n\r\n')) {
      const length = Number(/^content-length: *(\d+)/im.exec(rest.toString('latin1', 0, head))?.[1]);
      if (!(length <= MAX_MESSAGE_BYTES)) throw new Error('a message without a length, or too long');
      const end = head + 4 + length;
      if (rest.length < end) break;
      yield JSON.parse(rest.toString('utf8', head + 4, end)) as Message;
      rest = rest.subarray(end);
    }
  }
}
