/** 200 messages that were made to hurt, some real ones, and a mail server that breaks the rules: the service does not notice. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openStorage } from '../../src/storage/storage.ts';
import { startDovecot } from '../support/dovecot.ts';
import { hostileMails, REAL_MAILS, startHostileImap } from '../support/hostile-mail.ts';
import { imapBlock } from '../support/mail-fixture.ts';
import type { Part, Row } from '../support/parts.ts';
import { type AttackedService, startAttacked } from './attacked-service.ts';

const SIZES = 10;
const MAX_DELAY_MS = 10;
const QUIET_MS = 10_000;
const LONGEST_MS = 12 * 60_000;
const MAPPINGS = `- {id: mail, match: {path: mail}, deliver: false, sessionKey: "mail:{{messages.0.id}}", messageTemplate: "Subject: {{messages.0.subject}}"}`;

export const mailPart: Part = {
  name: 'mail',
  run: async (progress) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-redteam-mail-'));
    try {
      return [...(await hostileMessages(folder, progress)), ...(await hostileServer(folder, progress))];
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function hostileMessages(folder: string, progress: (text: string) => void): Promise<readonly Row[]> {
  const dovecot = await startDovecot();
  const delays = join(folder, 'messages');
  const service = await startWithMail(dovecot.port, delays);
  try {
    await untilReading(service);
    await delay(5_000);
    const quietAt = Date.now();
    await delay(QUIET_MS);
    const startedAt = Date.now();
    const all = [...hostileMails(SIZES), ...REAL_MAILS];
    await dovecot.append(all.map(({ raw }) => raw));
    const subjects = await untilDelivered(service, all.length, progress);
    const { longest, over, looks } = delaysBetween(delays, startedAt, Date.now());
    const quiet = delaysBetween(delays, quietAt, startedAt);
    const lost = all.filter(({ name }) => !subjects.includes(name)).length;
    return [
      { what: 'event loop without mail', figure: `at most ${quiet.longest.toFixed(1)} ms` },
      {
        what: `event loop under ${all.length} messages`,
        figure: `at most ${longest.toFixed(1)} ms; ${over} of ${looks} looks over ${MAX_DELAY_MS} ms`,
        aim: { text: `at most ${MAX_DELAY_MS} ms`, met: longest <= Math.max(MAX_DELAY_MS, quiet.longest) },
      },
      {
        what: 'messages delivered, lost, doubled',
        figure: `${subjects.length}, ${lost}, ${subjects.length - new Set(subjects).size}`,
        aim: { text: `${all.length}, 0, 0`, met: lost === 0 && subjects.length === all.length },
      },
      { what: 'until all were delivered', figure: `${Math.round((Date.now() - startedAt) / 1000)} s` },
    ];
  } finally {
    await service.stop();
    await dovecot.stop();
  }
}

async function hostileServer(folder: string, progress: (text: string) => void): Promise<readonly Row[]> {
  progress('a server that answers SEARCH with a million numbers');
  const server = await startHostileImap({ numbers: 1_000_000 });
  const delays = join(folder, 'server');
  const startedAt = Date.now();
  const service = await startWithMail(server.port, delays);
  try {
    await delay(20_000);
    // What the start itself takes is not mail's.
    const { longest } = delaysBetween(delays, startedAt + 5_000, Date.now());
    return [
      {
        what: `event loop under ${server.searches()} answers of a million numbers`,
        figure: `at most ${longest.toFixed(1)} ms`,
        aim: { text: `at most ${MAX_DELAY_MS} ms`, met: longest <= MAX_DELAY_MS },
      },
    ];
  } finally {
    await service.stop();
    await server.stop();
  }
}

function startWithMail(port: number, delays: string): Promise<AttackedService> {
  return startAttacked({
    mappings: MAPPINGS,
    mail: imapBlock(port),
    preload: new URL('loop-delay.mjs', import.meta.url),
    variables: { REDTEAM_LOOP_DELAY: delays },
  });
}

async function untilReading({ store }: AttackedService): Promise<void> {
  const storage = await openStorage(`sqlite:${store}`, { mode: 'attached' });
  try {
    while ((await storage.listMailboxes())[0]?.position === undefined) await delay(100);
  } finally {
    await storage.close();
  }
}

/** Subjects of all runs, once there are so many. */
async function untilDelivered(
  { store }: AttackedService,
  count: number,
  progress: (text: string) => void,
): Promise<readonly string[]> {
  const storage = await openStorage(`sqlite:${store}`, { mode: 'attached' });
  try {
    const endsAt = Date.now() + LONGEST_MS;
    for (;;) {
      const runs = (await storage.listRuns({ limit: 10_000 })).filter(({ kind }) => kind === 'hook');
      if (runs.length >= count || Date.now() > endsAt) {
        return runs.map(({ action }) => /Subject: (.*)/.exec(action.message)?.[1] ?? '');
      }
      progress(`${runs.length} of ${count} messages`);
      await delay(5_000);
    }
  } finally {
    await storage.close();
  }
}

function delaysBetween(
  file: string,
  from: number,
  to: number,
): { readonly longest: number; readonly over: number; readonly looks: number } {
  const found = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
    .filter(([at = 0]) => at > from && at <= to)
    .map(([, ms = 0]) => ms);
  const over = found.filter((ms) => ms > MAX_DELAY_MS).length;
  return { longest: Math.max(0, ...found), over, looks: found.length };
}
