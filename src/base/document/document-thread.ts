/** A thread that parses a large file; `read-document.ts` starts and ends it. */
import { parentPort } from 'node:worker_threads';
import type { SourceText } from '../finding.ts';
import { type DocumentFormat, readTree } from './parse-document.ts';
import { packed } from './packed-tree.ts';

export interface ParseRequest {
  readonly source: SourceText;
  readonly format: DocumentFormat;
}

parentPort?.on('message', ({ source, format }: ParseRequest) => {
  parentPort?.postMessage(packed(readTree(source, format)));
});
parentPort?.postMessage('ready');
