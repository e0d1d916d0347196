import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';

const LOG = JSON.stringify(new URL('../../../src/base/telemetry/log.ts', import.meta.url));

const SCRIPT = `
  import { createLogger } from ${LOG};
  const log = createLogger();
  for (let i = 0; i < 3_000; i += 1) log.info({ text: 'x'.repeat(100) }, 'line');
  const alive = setInterval(() => undefined, 1_000);
  process.on('SIGTERM', () => {
    clearInterval(alive);
    log.info({}, 'last');
    log.flush();
  });
  console.log('ready');
`;

/** Starts the script and asks it to end; resolves to its exit code and what came on standard error. */
async function endOf({ isRead }: { readonly isRead: boolean }): Promise<readonly [number | null, string]> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT]);
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  if (isRead) child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(child.stdout, 'data');
  // A write that has begun is not waited for at the end, so its rest may come behind the last line.
  if (isRead) while (text.split('\n').length <= 3_000) await once(child.stderr, 'data');
  // What comes is kept here up to some bytes, and then nobody takes more.
  else await once(child.stderr, 'readable');
  const ended = once(child, 'exit') as Promise<[number | null]>;
  child.kill('SIGTERM');
  const [code] = await ended;
  if (isRead && !child.stderr.readableEnded) await once(child.stderr, 'end');
  return [code, text];
}

test('a log pipe that nobody reads does not keep the process', async () => {
  expect((await endOf({ isRead: false }))[0]).toBe(0);
});

test('one that is read gets every line', async () => {
  const [code, text] = await endOf({ isRead: true });
  expect([code, text.trimEnd().split('\n').length]).toEqual([0, 3_001]);
  expect(text).toMatch(/"msg":"last"}\n$/);
});
