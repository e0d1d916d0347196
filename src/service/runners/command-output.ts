import { stripVTControlCharacters } from 'node:util';
import { memberAt, readJson } from '../../base/json.ts';

/** Keeps the first bytes of a stream, and says when there were more. */
export class BoundedHead {
  readonly #chunks: Buffer[] = [];
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds a chunk; false once the stream has brought more than it may. */
  add(chunk: Buffer): boolean {
    const left = this.#maxBytes - this.#bytes;
    if (left > 0) this.#chunks.push(chunk.subarray(0, left));
    this.#bytes += chunk.length;
    return this.#bytes <= this.#maxBytes;
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

/** Keeps the last bytes of a stream, and as many before them, where a secret may begin that the cut goes through. */
export class BoundedTail {
  readonly #maxBytes: number;
  #tail = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Buffer): void {
    const kept = -2 * this.#maxBytes;
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(kept)]).subarray(kept);
  }

  /** `hide` removes secrets. */
  text(hide: (text: string) => string): string {
    const safe = Buffer.from(hide(stripVTControlCharacters(this.#tail.toString('utf8'))));
    return safe.subarray(-this.#maxBytes).toString('utf8').trim();
  }
}

export type ExtractedReply =
  | { readonly ok: true; readonly reply: string }
  | { readonly ok: false; readonly code: 'reply_not_json' | 'reply_not_found'; readonly message: string };

/**
 * The reply in a command's output: its text without terminal codes, or what a dot path names in its JSON. Commands
 * that print one JSON document per line are taken by their last line.
 */
export function extractReply(stdout: string, replyPath: string | undefined): ExtractedReply {
  if (replyPath === undefined) return { ok: true, reply: stripVTControlCharacters(stdout).trim() };
  const document = readJson(stdout) ?? readJson(stdout.trimEnd().split('\n').at(-1) ?? '');
  if (document === undefined) {
    return { ok: false, code: 'reply_not_json', message: 'the output is not JSON, which replyPath needs' };
  }
  const found = memberAt(document, replyPath.split('.'));
  if (found === undefined || found === null) {
    return {
      ok: false,
      code: 'reply_not_found',
      message: `the output has nothing at replyPath ${replyPath}${whatIsThere(document)}`,
    };
  }
  return { ok: true, reply: (typeof found === 'string' ? found : JSON.stringify(found)).trim() };
}

/** Most names that are listed. */
const MAX_NAMED = 10;

function whatIsThere(document: unknown): string {
  const names = Object.keys(Object(document) as object).map((name) => name.slice(0, 40));
  return names.length === 0 ? '' : `; it has ${names.slice(0, MAX_NAMED).join(', ')}`;
}
