/** The yardstick: node:http that reads the whole body, parses it and answers, and does nothing else. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as object;
    response.writeHead(202, { 'content-type': 'application/json' });
    response.end(`{"ok":true,"keys":${Object.keys(body).length}}`);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stderr.write(`port=${(server.address() as AddressInfo).port}\n`);
});
