/** Ends `sluice add`: it shows the first request of the new sender, and what became of it. */
import { existsSync } from 'node:fs';
import { findStoreFile, openStorage, type Storage } from '../../../engine/storage/storage.ts';
import { pause } from '../../../base/timers/timers.ts';
import type { SenderSetup } from '../setup/add-steps.ts';
import type { Cli } from '../command-line.ts';
import { explainById } from '../authoring/explain.ts';
import { commandLine } from '../next-steps.ts';
import { originOf } from './send.ts';

/** Finding the page of a sender and filling it in takes minutes. */
const WAIT_MS = 900_000;
const LOOK_MS = 500;
const SERVED_WITHIN_MS = 2_000;

/**
 * Waits until a request comes to a hook name or the person ends the wait, and explains it. Without a
 * terminal it does nothing.
 */
export async function awaitFirstDelivery(cli: Cli, name: string, given: SenderSetup): Promise<void> {
  const { terminal } = cli;
  const { flags, file, settings } = given;
  if (!terminal.interactive || flags.wait === false) return;
  const address = `${settings.hooks.path}/${name}`;
  terminal.out(
    `\nWaiting 15 minutes for the first delivery to ${address}. Ctrl+C ends it; what was added stays.`,
  );
  const origin = originOf(settings);
  if (!(await isServed(origin)))
    terminal.out(
      `No service answers at ${origin}: start "${commandLine(terminal, file, 'dev')}" beside this.`,
    );
  const waiting = new AbortController();
  const ended = terminal.untilInterrupted().then(() => undefined);
  const since = Date.now();
  const found = await Promise.race([
    findFirst(settings.storage.url, { name, since, signal: waiting.signal }),
    ended,
  ]);
  waiting.abort();
  if (found === undefined)
    return terminal.err('no delivery came; "sluice requests" lists those that come later');
  await explainById(cli, found, flags);
}

async function isServed(origin: string): Promise<boolean> {
  const answer = await fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(SERVED_WITHIN_MS) }).catch(
    () => undefined,
  );
  await answer?.body?.cancel();
  return answer !== undefined;
}

interface DeliveryWait {
  readonly name: string;
  /** Milliseconds since the epoch; an earlier request does not count. */
  readonly since: number;
  readonly signal: AbortSignal;
}

/** Resolves to undefined where no request came in time. */
async function findFirst(url: string, { name, since, signal }: DeliveryWait): Promise<string | undefined> {
  let storage: Storage | undefined;
  try {
    while (!signal.aborted && Date.now() - since < WAIT_MS) {
      storage ??= await openIfThere(url);
      const decisions = (await storage?.listDecisions({ limit: 50 })) ?? [];
      const own = decisions.filter(({ path, receivedAt }) => path === name && receivedAt >= since);
      const first = own.at(-1);
      if (first !== undefined) return first.requestId;
      await pause(LOOK_MS);
    }
    return undefined;
  } finally {
    await storage?.close();
  }
}

/** The first start of the service, which may be later than this, makes the store. */
async function openIfThere(url: string): Promise<Storage | undefined> {
  const file = findStoreFile(url);
  if (file !== undefined && !existsSync(file)) return undefined;
  return openStorage(url, { mode: 'attached' }).catch(() => undefined);
}
