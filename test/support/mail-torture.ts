import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openStorage, type RunRecord } from '../../src/engine/storage/storage.ts';
import { startDovecot } from './dovecot.ts';
import { cuttableLine, rawMail } from './mail-server.ts';
import { startMailRunProcess, startServiceProcess, type LastingProcess } from './service-process.ts';

export interface MailTorture {
  readonly mails: number;
  /** Times all connections to the mail server are cut. */
  readonly cuts: number;
  /** Who is killed: the service that reads the mailbox, the process in which it does, or `mail run` beside it. */
  readonly reader: 'serve' | 'child' | 'run';
  /** Times the reader is killed and started again. */
  readonly kills: number;
  readonly seed: number;
}

export interface MailTortureResult {
  readonly delivered: number;
  readonly lost: number;
  readonly doubled: number;
  readonly outOfOrder: number;
  /** Seconds from the moment a mail was in the mailbox to the start of its run, trouble included. */
  readonly medianSeconds: number;
  readonly worstSeconds: number;
}

/**
 * Mails arrive at a real server while connections are cut and the service is killed at random. What the store then
 * holds is compared with what was sent.
 */
export async function tortureMail({
  mails,
  cuts,
  kills,
  seed,
  reader: kind,
}: MailTorture): Promise<MailTortureResult> {
  const dovecot = await startDovecot();
  const line = await cuttableLine(dovecot.port);
  const folder = await mkdtemp(join(tmpdir(), 'sluice-mail-torture-'));
  await writeFile(join(folder, 'sluice.yaml'), configuration(line.port, kind));
  const random = seededRandom(seed);
  const service = kind === 'run' ? await startServiceProcess(folder, ENV) : undefined;
  const start = (): Promise<LastingProcess> =>
    service === undefined ? startServiceProcess(folder, ENV) : startMailRunProcess(folder, service.port, ENV);
  let reader = await start();
  const arrivedAt: number[] = [];
  const lengthMs = Math.max(2_000, kills * KILL_MS);
  try {
    await untilConnected(reader);
    let isSending = true;
    const sending = sendMails(dovecot.append, { mails, arrivedAt, lengthMs }).finally(() => {
      isSending = false;
    });
    const cutting = (async () => {
      for (let n = 0; n < cuts; n += 1) {
        await pause((random() * 2 * lengthMs) / cuts);
        line.cut();
      }
    })();
    for (let n = 0; n < kills; n += 1) {
      await pause(100 + random() * 1_000);
      if (kind === 'child') await killHolder(join(folder, 'sluice.db'));
      else {
        await reader.end('SIGKILL');
        reader = await start();
      }
    }
    await Promise.all([sending, cutting]);
    if (isSending) throw new Error('mails are still being sent');
    const file = join(folder, 'sluice.db');
    await untilDelivered(file, mails);
    // Mail is taken in order: once this one has a run, nothing of those before it is still to come.
    await dovecot.append([rawMail(`mail ${mails}`)]);
    const runs = await untilDelivered(file, mails + 1);
    return compare(
      runs.filter(({ action }) => numberOf(action.message) !== mails),
      arrivedAt,
    );
  } finally {
    await reader.end('SIGTERM');
    await service?.end('SIGTERM');
    await line.stop();
    await dovecot.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Mails that arrive together. */
const BATCH = 5;
/** What a kill and the start after it take about: mails and cuts are spread over all of them. */
const KILL_MS = 1_500;
const ENV = { MAIL_TORTURE_TOKEN: 'mail-torture-token-0123456789' };

/** The mapping asks for another proof than the hook token, which `mail run` has all the same. */
function configuration(port: number, reader: MailTorture['reader']): string {
  return `hooks:
  enabled: true
  token: \${MAIL_TORTURE_TOKEN}
  mappings:
    - id: mail
      match: {path: mail}
      verify: {scheme: github, secrets: ['\${MAIL_TORTURE_TOKEN}']}
      sessionKey: 'hook:mail:{{messages.0.id}}'
      messageTemplate: 'Subject: {{messages.0.subject}}'
  mail:
    version: 1
    kind: imap
    account: testuser
    run: ${reader !== 'run'}
    host: 127.0.0.1
    port: ${port}
    security: none
    auth: {kind: password, password: testpass}
gateway: {runner: echo, heartbeat: {everySeconds: 0}}
storage: {url: 'sqlite:./sluice.db'}
`;
}

/** Kills the process that holds the mailbox, as soon as one does that is alive. */
async function killHolder(file: string): Promise<void> {
  const storage = await openStorage(`sqlite:${file}`, { mode: 'attached' });
  try {
    for (let tries = 0; tries < 600; tries += 1) {
      const [record] = await storage.listMailboxes();
      try {
        if (record?.holder !== undefined)
          return void process.kill(Number(record.holder.split('/')[2]), 'SIGKILL');
      } catch {
        // It was killed before; the next one has not begun.
      }
      await pause(50);
    }
    throw new Error('nobody read the mailbox within 30 s');
  } finally {
    await storage.close();
  }
}

/** The first position is now: what is sent before the reader has one would rightly start nothing. */
async function untilConnected(service: LastingProcess): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (service.log.some((line) => line.includes('"state":"connected"'))) return;
    await pause(50);
  }
  throw new Error(`the mailbox was not connected within 30 s:\n${service.log.slice(-10).join('\n')}`);
}

async function sendMails(
  append: (raws: readonly string[]) => Promise<readonly number[]>,
  {
    mails,
    arrivedAt,
    lengthMs,
  }: { readonly mails: number; readonly arrivedAt: number[]; readonly lengthMs: number },
): Promise<void> {
  for (let at = 0; at < mails; at += BATCH) {
    const raws = Array.from({ length: Math.min(BATCH, mails - at) }, (_, n) => rawMail(`mail ${at + n}`));
    arrivedAt.push(...(await append(raws)));
    await pause((lengthMs * BATCH) / mails);
  }
}

async function untilDelivered(file: string, mails: number): Promise<readonly RunRecord[]> {
  const storage = await openStorage(`sqlite:${file}`, { mode: 'attached' });
  try {
    let count = -1;
    // As long as more arrive, more may come.
    for (let quiet = 0; quiet < 300; quiet += 1) {
      const runs = await hookRuns(storage);
      if (runs.length >= mails && runs.every(({ startedAt }) => startedAt !== undefined)) break;
      if (runs.length > count) quiet = 0;
      count = runs.length;
      await pause(100);
    }
    return await hookRuns(storage);
  } finally {
    await storage.close();
  }
}

async function hookRuns(storage: Awaited<ReturnType<typeof openStorage>>): Promise<readonly RunRecord[]> {
  const runs = await storage.listRuns({ limit: 100_000 });
  return runs.filter(({ kind }) => kind === 'hook').toReversed();
}

function numberOf(message: string): number {
  return Number(/Subject: mail (\d+)/.exec(message)?.[1] ?? -1);
}

function compare(runs: readonly RunRecord[], arrivedAt: readonly number[]): MailTortureResult {
  const numbers = runs.map(({ action }) => numberOf(action.message));
  const first = new Map<number, RunRecord>();
  let outOfOrder = 0;
  let last = -1;
  for (const [index, number] of numbers.entries()) {
    const run = runs[index];
    if (first.has(number) || run === undefined) continue;
    first.set(number, run);
    if (number < last) outOfOrder += 1;
    last = number;
  }
  const seconds = arrivedAt
    .map((at, number) => ((first.get(number)?.startedAt ?? at) - at) / 1000)
    .toSorted((a, b) => a - b);
  return {
    delivered: first.size,
    lost: arrivedAt.filter((_, number) => !first.has(number)).length,
    doubled: numbers.length - first.size,
    outOfOrder,
    medianSeconds: seconds[Math.floor(seconds.length / 2)] ?? 0,
    worstSeconds: seconds.at(-1) ?? 0,
  };
}

/** Numbers in [0, 1) that a seed repeats (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
