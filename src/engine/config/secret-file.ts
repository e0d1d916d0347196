import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, fstatSync, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { shellWord, statOf } from './on-path.ts';

/** Bytes; a secret file holds one secret. */
const MAX_SECRET_BYTES = 64 * 1024;

/** The secret in a file, or what is wrong with the file and what to do. */
export type SecretFile =
  | { readonly kind: 'read'; readonly secret: string }
  | {
      readonly kind: 'problem';
      readonly problem: string;
      readonly hint: string;
      /** The file, or a folder above it, is there and may not be read. */
      readonly isDenied?: true;
    };

const UNREADABLE_HINT =
  'check that the path is right (it is relative to the configuration file) and that the user who runs sluice may read the file';

const STATE_FOLDER = /^(.*[\\/]\.sluice)[\\/]/;
const leftOutHint = (file: string, state: string): string =>
  `git leaves the folder .sluice out, so that a clone lacks it: copy it from where it was set up, or write a new secret, which the sender has to get, too: (umask 077; mkdir -p ${shellWord(dirname(file))}; echo '*' > ${shellWord(join(state, '.gitignore'))}; openssl rand -hex 32 > ${shellWord(file)})`;

/** The one reader of secret files: the whole text but the line ends after it. Reads at most 64 KiB. */
export function readSecretFile(file: string): SecretFile {
  let bytes: Buffer;
  try {
    bytes = readAtMost(file, MAX_SECRET_BYTES + 1);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    const denied = code === 'EACCES' ? findDenied(file) : undefined;
    if (denied !== undefined) return { kind: 'problem', isDenied: true, ...denied };
    const [, state] = code === 'ENOENT' ? (STATE_FOLDER.exec(file) ?? []) : [];
    const hint = state === undefined ? UNREADABLE_HINT : leftOutHint(file, state);
    return { kind: 'problem', problem: `cannot be read (${code})`, hint };
  }
  if (bytes.length > MAX_SECRET_BYTES) {
    const problem = `is larger than ${String(MAX_SECRET_BYTES)} bytes`;
    return { kind: 'problem', problem, hint: 'name a file that contains the secret and nothing else' };
  }
  const secret = bytes.toString('utf8').replace(/(\r?\n)+$/, '');
  if (secret === '') return { kind: 'problem', problem: 'is empty', hint: 'write the secret into it' };
  return { kind: 'read', secret };
}

/** Reads the secret in a file, or makes one that only its owner can read, in a folder that git ignores. */
export function readOrMakeSecret(file: string, minChars: number): string {
  const read = readSecretFile(file);
  const isLong = read.kind === 'read' && read.secret.length >= minChars;
  const secret = isLong ? read.secret : randomBytes(24).toString('base64url');
  if (!isLong) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(join(dirname(file), '.gitignore'), '*\n');
    writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  }
  chmodSync(file, 0o600);
  return secret;
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

/** Why a file may not be read. Only a folder that sluice made is ever to be given away as a whole. */
function findDenied(file: string, path = file): { problem: string; hint: string } | undefined {
  const uid = process.getuid?.();
  const found = statOf(path);
  if (found === undefined && path !== dirname(path)) return findDenied(file, dirname(path));
  if (uid === undefined || found === undefined) return undefined;
  const mode = (found.mode & 0o777).toString(8).padStart(4, '0');
  const isFile = path === file;
  const what = isFile ? 'it' : `the folder ${path}`;
  const isOurs = path.length >= (STATE_FOLDER.exec(file)?.[1]?.length ?? Infinity);
  return {
    problem: `cannot be read: ${what} belongs to ${ownerText(found.uid)} with mode ${mode}, and sluice runs as ${ownerText(uid)}`,
    hint:
      found.uid === uid
        ? `let its owner read it: chmod ${isFile ? 'u+r' : 'u+rx'} ${shellWord(path)}`
        : isFile || isOurs
          ? `give it to the user who runs sluice: chown ${isFile ? '' : '-R '}${uid} ${shellWord(path)}`
          : `keep the secret in a folder of its own, or let that user pass through this one: setfacl -m u:${uid}:x ${shellWord(path)}`,
  };
}

function ownerText(uid: number): string {
  if (uid === 0) return 'root';
  try {
    const { uid: own, username } = userInfo();
    if (own === uid) return `${username} (user ${uid})`;
  } catch {
    // Users of a container need no name.
  }
  return `user ${uid}`;
}
