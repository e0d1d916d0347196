/** A command for scripts that call the program, which this process answers: a start of its own takes fifty times as long. */
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { cli } from './cli-terminal.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Sends folder, number of words, words and environment, each with a NUL behind it, and an empty one at the end. */
const client = (port: number): string => `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/${port}
{ printf '%s\\0' "$PWD" $# "$@"; env -0; printf '\\0'; } >&3
read -r code said <&3
cat "$said.out"; cat "$said.err" >&2
exit "$code"
`;

/** Returns the file of the command. Who runs it must not stand still meanwhile, as this process answers. */
export async function startProgramHere(): Promise<string> {
  const folder = temporaryFolder();
  let count = 0;
  const answer = async (socket: Socket, sent: string): Promise<void> => {
    const [cwd = '', words = '', ...rest] = sent.split('\0');
    const variables = rest.slice(Number(words), -2).map((each) => {
      const at = each.indexOf('=');
      return [each.slice(0, at), each.slice(at + 1)] as const;
    });
    const env = Object.fromEntries(variables);
    const before = process.cwd();
    // Some paths that are printed begin where the process is.
    process.chdir(cwd);
    const { exitCode, out, err } = await cli(rest.slice(0, Number(words)), { cwd, env }).finally(() =>
      process.chdir(before),
    );
    const said = join(folder, String((count += 1)));
    writeFileSync(`${said}.out`, out);
    writeFileSync(`${said}.err`, err);
    socket.end(`${exitCode} ${said}\n`);
  };
  const server = createServer((socket) => {
    let sent = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      sent += String(chunk);
      if (sent.endsWith('\0\0')) void answer(socket, sent);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const file = join(folder, 'sluice');
  writeFileSync(file, client((server.address() as AddressInfo).port));
  chmodSync(file, 0o755);
  return file;
}
