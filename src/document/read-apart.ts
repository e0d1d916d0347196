import { extname } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { say, type SourceText } from '../finding.ts';
import { askThread, startThread } from '../timers/timers.ts';
import { unpacked } from './packed-tree.ts';
import { type DocumentFormat, type ParseResult, parseDocument, resultOf } from './parse-document.ts';
import type { ReadTree } from './tree.ts';

/** Characters that are parsed here and now: the worst text of this length takes below a second, a usual one 50 ms. */
const MAX_HERE = 32 * 1024;
/** A file of 4 MB in good order takes half of it. */
const LIMITS = { cpuMs: 20_000, memoryMb: 1_024 };

const ENTRY = new URL(`document-thread${extname(import.meta.url)}`, import.meta.url);

/**
 * Parses a text; a large one in a thread of its own, within bounds of time and memory: 4 MB that are broken, by a slip or
 * on purpose, take the parser many minutes.
 */
export async function parseWithin(
  source: SourceText,
  format: DocumentFormat,
  limits = LIMITS,
): Promise<ParseResult> {
  // A thread is apart already, and whoever started it bounds it.
  if (source.text.length <= MAX_HERE || !isMainThread) return parseDocument(source, format);
  const thread = await startThread(ENTRY, { name: 'document', memoryMb: limits.memoryMb });
  if (thread === undefined) throw new Error('no thread can be started to read a file in');
  try {
    const read = await askThread<ReadTree>(thread, { source, format }, { cpuMs: limits.cpuMs });
    return resultOf(source, format, read === undefined ? tooCostly(source, limits) : unpacked(read));
  } finally {
    await thread.terminate();
  }
}

function tooCostly(source: SourceText, { cpuMs, memoryMb }: typeof LIMITS): ReadTree {
  const finding = {
    severity: 'error',
    code: 'TOO_MANY_PARTS',
    message: say`the file takes more than ${cpuMs / 1000} s or ${memoryMb} MB to read`,
    at: { source, start: 0, end: 0 },
    hint: say`undo the last change, as it may have left a bracket or a quote open; or split the file into several`,
  } as const;
  return { diagnostics: [finding] };
}
