/*
 * A listener in front of another gateway: every hook goes on as it came, the sender gets the other gateway's answer
 * as it was, and afterwards somebody looks at both. Nothing of the looking can change what the sender gets.
 */
import type { IncomingMessage } from 'node:http';
import { type GateWatcher, openHookGate } from './hook-gate.ts';
import type { SideListener } from './side-listener.ts';

/** A request and the answer it got from the other gateway. */
export interface ShadowedExchange {
  readonly method: string;
  /** Path and query as received. */
  readonly url: string;
  /** Names in lower case; several values joined with `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** Absent where it was longer than what is looked at. */
  readonly body: Buffer | undefined;
  readonly status: number;
  readonly answer: Buffer;
}

export interface ShadowOptions {
  readonly host: string;
  /** 0 asks the system for a free one. */
  readonly port: number;
  /** Address of the other gateway, without path. */
  readonly upstream: URL;
  /** `hooks.path`. */
  readonly hooksPath: string;
  onExchange(exchange: ShadowedExchange): void;
  /** The other gateway could not be asked; the sender got 502. */
  onFailure(url: string, code: string): void;
}

/** Longer bodies go through and are not looked at: more than the largest batch an OpenClaw gateway takes. */
const MAX_LOOKED_AT_BYTES = 8 * 1024 * 1024;

/** @throws Error naming the setting where the address cannot be listened on */
export function startShadowListener(options: ShadowOptions): Promise<SideListener> {
  const { host, port, upstream, hooksPath } = options;
  return openHookGate({ host, port, service: upstream, hooksPath, watch: (req) => watch(options, req) });
}

function watch(options: ShadowOptions, req: IncomingMessage): GateWatcher {
  const { method = 'GET', url = '/' } = req;
  const sent = collect(req);
  return {
    onFailure: (code) => options.onFailure(url, code),
    onAnswer: (answer) => {
      const received = collect(answer);
      answer.on('end', () => {
        const looked = { method, url, headers: joined(req), status: answer.statusCode ?? 502 };
        options.onExchange({ ...looked, body: sent.body(), answer: received.body() ?? Buffer.alloc(0) });
      });
    },
  };
}

function joined(req: IncomingMessage): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [name, values] of Object.entries(req.headersDistinct)) headers[name] = (values ?? []).join(', ');
  return headers;
}

/** Keeps what passes, up to the limit; undefined beyond it. */
function collect(stream: IncomingMessage): { body(): Buffer | undefined } {
  const chunks: Buffer[] = [];
  let length = 0;
  stream.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= MAX_LOOKED_AT_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  });
  return { body: () => (length > MAX_LOOKED_AT_BYTES ? undefined : Buffer.concat(chunks)) };
}
