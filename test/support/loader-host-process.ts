/** The process behind `loader-host.ts`: it runs the program of a load again and again, each time with other streams. */
import { Readable } from 'node:stream';

/** What a load wrote; without `out` it failed. */
export interface LoaderReply {
  readonly out?: string;
  readonly complaint?: string;
}

let loads = 0;

async function load(entry: string, request: string): Promise<LoaderReply> {
  let out = '';
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([request]) });
  process.stdout.write = (chunk) => {
    out += String(chunk);
    return true;
  };
  try {
    loads += 1;
    await import(`${entry}?${loads}`);
    return { out };
  } catch (error) {
    return { complaint: String(error) };
  }
}

process.on('disconnect', () => process.exit());
process.on('message', ({ entry, request }: { readonly entry: string; readonly request: string }) => {
  void load(entry, request).then((reply) =>
    process.send?.(reply, () => {
      if (reply.out === undefined) process.exit();
    }),
  );
});
