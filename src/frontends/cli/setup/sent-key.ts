import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { writeSecretFile } from '../../../base/write-file.ts';
import { pause } from '../../../base/timers/timers.ts';
import type { Terminal } from '../terminal.ts';

/** The service accepts a key for as long. */
const WAIT_MS = 600_000;
const LOOK_MS = 300;

/**
 * Waits for the key that a sender brings to the running service, shows it, and makes it the secret when the
 * operator confirms it. Until then the path refuses everything.
 */
export async function awaitKey(
  terminal: Terminal,
  { file, title }: { readonly file: string; readonly title: string },
): Promise<void> {
  const [wanted, sent] = [`${file}.wanted`, `${file}.sent`];
  if (!terminal.interactive) {
    terminal.err(
      `run this again in a terminal: it waits for the key of ${title}, and asks whether it is the right one`,
    );
    return;
  }
  await rm(sent, { force: true });
  await writeSecretFile(wanted, '\n');
  terminal.out(`\nWaiting ten minutes for the key of ${title}; the service has to run. Ctrl+C ends it.`);
  const until = Date.now() + WAIT_MS;
  while (!existsSync(sent) && Date.now() < until) await pause(LOOK_MS);
  await rm(wanted, { force: true });
  const key = await readFile(sent, 'utf8').catch(() => undefined);
  if (key === undefined) return terminal.err(`no key came from ${title} within ten minutes; run this again`);
  terminal.out(`${title} sent this key: ${key.trim()}`);
  if (await terminal.confirm(`Type it at ${title}. Does ${title} say that it is right?`)) {
    await rename(sent, file);
    terminal.out(
      'It is the secret of the path now; a service that runs reads it when it is started or reloaded.',
    );
  } else {
    await rm(sent, { force: true });
    terminal.err('the key was thrown away: the path refuses everything until another one is confirmed');
  }
}
