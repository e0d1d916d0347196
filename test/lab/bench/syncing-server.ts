/**
 * What nobody goes below who stores before the answer: `node:http` that parses the body, hands it to a thread that writes
 * a page into a file and syncs it, and answers then. What comes while a page is synced shares the next sync. The file is
 * as long as it will be before the first request. Its path is the first argument.
 */
import { fdatasyncSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isMainThread, parentPort, receiveMessageOnPort, Worker, workerData } from 'node:worker_threads';

const PAGE_BYTES = 4096;
const FILE_BYTES = 16 * 1024 * 1024;

if (isMainThread) serve(process.argv[2] ?? '');
else store(workerData as string);

function serve(file: string): void {
  const thread = new Worker(new URL(import.meta.url), { workerData: file });
  const waiting: { readonly response: ServerResponse; readonly keys: number }[] = [];
  thread.on('message', (count: number) => {
    for (const { response, keys } of waiting.splice(0, count)) {
      response.writeHead(202, { 'content-type': 'application/json' });
      response.end(`{"ok":true,"keys":${keys}}`);
    }
  });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      waiting.push({ response, keys: Object.keys(JSON.parse(text) as object).length });
      thread.postMessage(text);
    });
  });
  server.listen(0, '127.0.0.1', () => {
    process.stderr.write(`port=${(server.address() as AddressInfo).port}\n`);
  });
}

function store(file: string): void {
  const descriptor = openSync(file, 'w');
  writeSync(descriptor, Buffer.alloc(FILE_BYTES, 'x'));
  fsyncSync(descriptor);
  const port = parentPort;
  let at = 0;
  port?.on('message', (first: string) => {
    const texts = [first];
    for (;;) {
      const next = receiveMessageOnPort(port);
      if (next === undefined) break;
      texts.push(next.message as string);
    }
    const pages = Buffer.alloc(texts.length * PAGE_BYTES);
    for (const [index, text] of texts.entries()) pages.write(text, index * PAGE_BYTES, PAGE_BYTES - 1);
    at = at + pages.length > FILE_BYTES ? 0 : at;
    at += writeSync(descriptor, pages, 0, pages.length, at);
    fdatasyncSync(descriptor);
    port.postMessage(texts.length);
  });
}
