import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Bytes; a secret file holds one secret. */
const MAX_SECRET_BYTES = 64 * 1024;

/** The secret in a file, or what is wrong with the file and what to do. */
export type SecretFile =
  | { readonly kind: 'read'; readonly secret: string }
  | { readonly kind: 'problem'; readonly problem: string; readonly hint: string };

const UNREADABLE_HINT =
  'check that the path is right (it is relative to the configuration file) and that the user who runs sluice may read the file';

/** The one reader of secret files: the whole text but the line ends after it. Reads at most 64 KiB. */
export function readSecretFile(file: string): SecretFile {
  let bytes: Buffer;
  try {
    bytes = readAtMost(file, MAX_SECRET_BYTES + 1);
  } catch (error) {
    const problem = `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`;
    return { kind: 'problem', problem, hint: UNREADABLE_HINT };
  }
  if (bytes.length > MAX_SECRET_BYTES) {
    const problem = `is larger than ${String(MAX_SECRET_BYTES)} bytes`;
    return { kind: 'problem', problem, hint: 'name a file that contains the secret and nothing else' };
  }
  const secret = bytes.toString('utf8').replace(/(\r?\n)+$/, '');
  if (secret === '') return { kind: 'problem', problem: 'is empty', hint: 'write the secret into it' };
  return { kind: 'read', secret };
}

function readAtMost(file: string, maxBytes: number): Buffer {
  const descriptor = openSync(file, 'r');
  try {
    if (fstatSync(descriptor).isDirectory()) throw Object.assign(new Error('directory'), { code: 'EISDIR' });
    const bytes = Buffer.alloc(maxBytes);
    let length = 0;
    while (length < maxBytes) {
      const read = readSync(descriptor, bytes, length, maxBytes - length, null);
      if (read === 0) break;
      length += read;
    }
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}
