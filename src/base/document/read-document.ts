import { quoted, type Finding, type SourceText, say } from '../finding.ts';
import { open as openFile } from 'node:fs/promises';
import { extname, isAbsolute, relative, resolve, sep } from 'node:path';
import { wholeFile } from './located.ts';
import { type DocumentFormat, type ParseResult, parseDocument, resultOf } from './parse-document.ts';
import { isMainThread } from 'node:worker_threads';
import { askThread, startThread } from '../timers/timers.ts';
import { unpacked } from './packed-tree.ts';
import type { ReadTree } from './tree.ts';

/** Bytes; the largest file an operator writes by hand is far below. */
const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024;

const FORMATS: Readonly<Record<string, DocumentFormat>> = {
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.json': 'json',
  '.json5': 'json5',
};

export interface ReadOptions {
  /** Directory that printed file names are relative to; default the working directory. */
  readonly cwd?: string;
  /** A file of an OpenClaw gateway, whatever its name: it is JSON5. */
  readonly isOpenClaw?: boolean;
  /** Default: files are read as they are. */
  readonly open?: OpenTexts;
  readonly limits?: ParseLimits;
}

/** Files that are open in an editor, and what was parsed before: by their absolute paths. */
export interface OpenTexts {
  /** Texts that replace those of the files. */
  readonly texts: ReadonlyMap<string, string>;
  /** A result is used again while its text is the same. */
  readonly parsed: Map<string, { readonly text: string; readonly result: ParseResult }>;
}

/** Reads and parses a file; everything that can be wrong with it is a finding. */
export async function readDocument(file: string, options: ReadOptions = {}): Promise<ParseResult> {
  const { isOpenClaw = false } = options;
  const format = isOpenClaw ? 'json5' : FORMATS[extname(file).toLowerCase()];
  if (format === undefined) return { findings: [unknownFormat(file, options)] };
  const { open, cwd } = options;
  const path = resolve(cwd ?? '', file);
  const text = open?.texts.get(path);
  const read =
    text === undefined
      ? await readSource(file, options)
      : { source: { file: displayName(file, cwd), text }, findings: [] };
  if (read.source === undefined) return { findings: read.findings };
  const known = open?.parsed.get(path);
  if (known?.text === read.source.text) return known.result;
  const source = isOpenClaw ? { ...read.source, isOpenClaw } : read.source;
  const result = await parseWithin(source, format, options.limits);
  open?.parsed.set(path, { text: read.source.text, result });
  return result;
}

function unknownFormat(file: string, { cwd }: ReadOptions): Finding {
  const endings = Object.keys(FORMATS).join(', ');
  const message = `the file ending ${extname(file) || '(none)'} is not known, expected one of ${endings}`;
  const hint = 'write it as YAML or JSON, and give it one of these endings';
  return fileFinding('UNKNOWN_FORMAT', displayName(file, cwd), message, hint);
}

interface ReadText {
  readonly source?: SourceText;
  readonly findings: readonly Finding[];
}

/** Reads a file's text: strict UTF-8 without byte order mark, at most 4 MB. */
async function readSource(file: string, { cwd }: ReadOptions): Promise<ReadText> {
  const name = displayName(file, cwd);
  let bytes: Buffer;
  try {
    bytes = await readBounded(file, MAX_DOCUMENT_BYTES);
  } catch (error) {
    return { findings: [readFinding(name, error as NodeJS.ErrnoException)] };
  }
  if (bytes.length <= MAX_DOCUMENT_BYTES) return decodeText(name, bytes);
  const message = `the file is larger than ${String(MAX_DOCUMENT_BYTES)} bytes`;
  return { findings: [fileFinding('FILE_TOO_LARGE', name, message, 'split it into several files')] };
}

function decodeText(name: string, bytes: Buffer): ReadText {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { source: { file: name, text }, findings: [] };
  } catch {
    const at = invalidByteAt(bytes);
    const isWide = [0xfffe, 0xfeff].includes(bytes.length < 2 ? 0 : bytes.readUInt16BE());
    const message = isWide
      ? 'the file is UTF-16, as PowerShell and some editors of Windows write it, expected UTF-8'
      : `the file is not valid UTF-8: byte ${String(at)} (0-based) does not belong to any character`;
    const hint = isWide
      ? 'save the file as UTF-8; in PowerShell with Set-Content -Encoding utf8'
      : 'save the file as UTF-8';
    return { findings: [fileFinding('INVALID_UTF8', name, message, hint)] };
  }
}

/** A file's name as printed: relative to `cwd` where it lies below it, with forward slashes. */
export function displayName(file: string, cwd: string = process.cwd()): string {
  const whole = resolve(cwd, file);
  const way = relative(cwd, whole);
  const isBelow = way !== '' && way.split(sep, 1)[0] !== '..' && !isAbsolute(way);
  return (isBelow ? way : whole).replaceAll('\\', '/');
}

/**
 * Reads a file's bytes, at most one chunk more than the limit, whatever the file is (a device has no size).
 *
 * @throws the system's error, with `EISDIR` for a directory.
 */
export async function readBounded(file: string, maxBytes: number): Promise<Buffer> {
  await using handle = await openFile(file, 'r');
  if ((await handle.stat()).isDirectory()) throw Object.assign(new Error('directory'), { code: 'EISDIR' });
  const chunks: Buffer[] = [];
  let length = 0;
  while (length <= maxBytes) {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(64 * 1024) });
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(chunks);
}

/** The first byte at which decoding fails: halving, since a prefix is valid exactly where none lies in it. */
function invalidByteAt(bytes: Buffer): number {
  let good = 0;
  let bad = bytes.length;
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, middle), { stream: true });
      good = middle;
    } catch {
      bad = middle;
    }
  }
  return good;
}

function readFinding(name: string, error: NodeJS.ErrnoException): Finding {
  const code = error.code ?? 'unknown error';
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const hint = 'check the path, or create the file';
    return fileFinding('FILE_NOT_FOUND', name, `there is no file ${name}`, hint);
  }
  if (code === 'EISDIR') {
    const message = `${name} is a directory, expected a file`;
    return fileFinding('FILE_IS_DIRECTORY', name, message, 'name a file in this directory');
  }
  const message = `${name} cannot be read (${code})`;
  const hint = 'check that the path is right and that the user who runs sluice may read the file';
  return fileFinding('FILE_UNREADABLE', name, message, hint);
}

function fileFinding(code: string, file: string, message: string, hint?: string): Finding {
  return {
    severity: 'error',
    code,
    message: quoted(message),
    at: wholeFile(file),
    ...(hint === undefined ? {} : { hint: quoted(hint) }),
  };
}

interface ParseLimits {
  /** Characters that are parsed here and now, and in no thread of their own; default 32 KB. */
  readonly here?: number;
  readonly cpuMs: number;
  readonly memoryMb: number;
}

/** The worst text of this length takes below a second, a usual one 50 ms. */
const MAX_HERE = 32 * 1024;
/** A file of 4 MB in good order takes half of it. */
const LIMITS: ParseLimits = { cpuMs: 20_000, memoryMb: 1_024 };

const ENTRY = new URL(`document-thread${extname(import.meta.url)}`, import.meta.url);

/**
 * Parses a text; a large one in a thread of its own, within bounds of time and memory: 4 MB that are broken, by a slip or
 * on purpose, take the parser many minutes.
 */
export async function parseWithin(
  source: SourceText,
  format: DocumentFormat,
  limits: ParseLimits = LIMITS,
): Promise<ParseResult> {
  // A thread is apart already, and whoever started it bounds it.
  if (source.text.length <= (limits.here ?? MAX_HERE) || !isMainThread) return parseDocument(source, format);
  const thread = await startThread(ENTRY, { name: 'document', memoryMb: limits.memoryMb });
  if (thread === undefined) throw new Error('no thread can be started to read a file in');
  try {
    const read = await askThread<ReadTree>(thread, { source, format }, { cpuMs: limits.cpuMs });
    return resultOf(source, read === undefined ? tooCostly(source, limits) : unpacked(read));
  } finally {
    await thread.terminate();
  }
}

function tooCostly(source: SourceText, { cpuMs, memoryMb }: ParseLimits): ReadTree {
  const finding = {
    severity: 'error',
    code: 'TOO_MANY_PARTS',
    message: say`the file takes more than ${cpuMs / 1000} s or ${memoryMb} MB to read`,
    at: { source, start: 0, end: 0 },
    hint: say`undo the last change, as it may have left a bracket or a quote open; or split the file into several`,
  } as const;
  return { findings: [finding] };
}
