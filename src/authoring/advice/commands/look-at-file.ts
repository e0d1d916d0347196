/* Looks at a file that may not be there, or may not be looked at. */
import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';

export function statOf(file: string): Stats | undefined {
  try {
    return statSync(file);
  } catch {
    // Not there, or a word that is too long for a name.
    return undefined;
  }
}

/** The first bytes of a file; empty where it cannot be read. */
export function beginningOf(file: string, maxBytes: number): Buffer {
  let handle: number | undefined;
  try {
    handle = openSync(file, 'r');
    const bytes = Buffer.alloc(maxBytes);
    return bytes.subarray(0, readSync(handle, bytes, 0, maxBytes, 0));
  } catch {
    // Not there, not to be read, or no file.
    return Buffer.alloc(0);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
