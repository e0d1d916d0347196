/** The editor's side of the Language Server Protocol, over the pipes of a process. */
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** What the server answers; tests look at what they need of it. */
export type Answer = unknown;

interface Shown {
  readonly code: string;
}

export function connectEditor(child: ChildProcessByStdio<Writable, Readable, null>): {
  /** Diagnostics by the address of their file. */
  readonly shown: ReadonlyMap<string, readonly Shown[]>;
  tell(method: string, params: unknown): void;
  /** Rejects with the message of an error. */
  ask(method: string, params: unknown): Promise<Answer>;
} {
  const shown = new Map<string, readonly Shown[]>();
  const waiting = new Map<number, (message: Message) => void>();
  const take = (message: Message): void => {
    if (message.method === 'textDocument/publishDiagnostics' && message.params !== undefined)
      shown.set(message.params.uri, message.params.diagnostics);
    else if (message.id !== undefined) waiting.get(message.id)?.(message);
  };
  let rest = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let head = rest.indexOf('\r\n\r\n'); head !== -1; head = rest.indexOf('\r\n\r\n')) {
      const length = Number(/Content-Length: (\d+)/.exec(rest.toString('latin1', 0, head))?.[1]);
      if (rest.length < head + 4 + length) return;
      take(JSON.parse(rest.toString('utf8', head + 4, head + 4 + length)) as Message);
      rest = rest.subarray(head + 4 + length);
    }
  });
  const send = (message: object): void => {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    // In two pieces, as a pipe may deliver it.
    child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    child.stdin.write(body);
  };
  let asked = 0;
  return {
    shown,
    tell: (method, params) => send({ method, params }),
    ask: (method, params) => {
      asked += 1;
      const id = asked;
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      waiting.set(id, ({ result, error }) =>
        error === undefined ? resolve(result) : reject(new Error(error.message)),
      );
      send({ id, method, params });
      return promise;
    },
  };
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly uri: string; readonly diagnostics: readonly Shown[] };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}
