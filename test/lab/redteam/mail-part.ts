/** 200 messages that were made to hurt, some real ones, and a mail server that breaks the rules: the service does not notice. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openStorage } from '../../../src/engine/storage/storage.ts';
import { startDovecot } from '../../support/dovecot.ts';
import { hostileMails, REAL_MAILS, startHostileImap } from '../../support/hostile-mail.ts';
import { imapBlock } from '../../support/mail-fixture.ts';
import type { Part, Row } from '../../support/parts.ts';
import { type AttackedService, startAttacked } from './attacked-service.ts';

const SIZES = 10;
const MAX_HOLD_MS = 10;
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

/**
 * What mail adds: a service that reads a mailbox and one that reads none, at the same time, so that both have the same
 * machine. A delay of the event loop holds what the machine did meanwhile; what the thread computed does not.
 */
async function hostileMessages(folder: string, progress: (text: string) => void): Promise<readonly Row[]> {
  const dovecot = await startDovecot();
  const service = await startWatched(join(folder, 'messages'), imapBlock(dovecot.port));
  const other = await startWatched(join(folder, 'without'));
  try {
    await untilReading(service);
    await delay(5_000);
    const startedAt = Date.now();
    const all = [...hostileMails(SIZES), ...REAL_MAILS];
    await dovecot.append(all.map(({ raw }) => raw));
    const subjects = await untilDelivered(service, all.length, progress);
    const endedAt = Date.now();
    const lost = all.filter(({ name }) => !subjects.includes(name)).length;
    return [
      ...rowsOf(`${all.length} messages`, {
        mail: holdsBetween(service.holds, startedAt, endedAt),
        none: holdsBetween(other.holds, startedAt, endedAt),
      }),
      {
        what: 'messages delivered, lost, doubled',
        figure: `${subjects.length}, ${lost}, ${subjects.length - new Set(subjects).size}`,
        aim: { text: `${all.length}, 0, 0`, met: lost === 0 && subjects.length === all.length },
      },
      { what: 'until all were delivered', figure: `${Math.round((endedAt - startedAt) / 1000)} s` },
    ];
  } finally {
    await Promise.all([service.stop(), other.stop(), dovecot.stop()]);
  }
}

async function hostileServer(folder: string, progress: (text: string) => void): Promise<readonly Row[]> {
  progress('a server that answers SEARCH with a million numbers');
  const server = await startHostileImap({ numbers: 1_000_000 });
  const service = await startWatched(join(folder, 'server'), imapBlock(server.port));
  const other = await startWatched(join(folder, 'no-server'));
  try {
    // What the start itself takes is not mail's.
    await delay(5_000);
    const startedAt = Date.now();
    await delay(20_000);
    const [mail, none] = [service, other].map(({ holds }) => holdsBetween(holds, startedAt, Date.now()));
    return mail === undefined || none === undefined
      ? []
      : rowsOf(`${server.searches()} answers of a million numbers`, { mail, none });
  } finally {
    await Promise.all([service.stop(), other.stop(), server.stop()]);
  }
}

/** The longest that a thread was held, in milliseconds. */
interface Holds {
  readonly delay: number;
  readonly computed: number;
  /** Fifths of a second with a delay over the aim. */
  readonly over: number;
  readonly looks: number;
}

function rowsOf(
  what: string,
  { mail, none }: { readonly mail: Holds; readonly none: Holds },
): readonly Row[] {
  const shown = ({ delay: longest, computed, over, looks }: Holds): string =>
    `computes ${computed.toFixed(1)} ms at once at most; event loop ${longest.toFixed(1)} ms late at most, ${over} of ${looks} looks over ${MAX_HOLD_MS} ms`;
  return [
    { what: `${what}, a service without mail meanwhile`, figure: shown(none) },
    {
      what: `${what}: the serving thread`,
      figure: shown(mail),
      aim: {
        text: `computes at most ${MAX_HOLD_MS} ms at once, or no more than without mail`,
        met: mail.computed <= Math.max(MAX_HOLD_MS, none.computed),
      },
    },
  ];
}

interface Watched extends AttackedService {
  /** The file of `loop-delay.mjs`. */
  readonly holds: string;
}

async function startWatched(holds: string, mail?: object): Promise<Watched> {
  const service = await startAttacked({
    mappings: MAPPINGS,
    ...(mail === undefined ? {} : { mail }),
    preload: new URL('loop-delay.mjs', import.meta.url),
    variables: { REDTEAM_LOOP_DELAY: holds },
  });
  return { ...service, holds };
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

function holdsBetween(file: string, from: number, to: number): Holds {
  const found = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
    .filter(([at = 0]) => at > from && at <= to);
  const delays = found.map(([, ms = 0]) => ms);
  return {
    delay: Math.max(0, ...delays),
    computed: Math.max(0, ...found.map(([, , ms = 0]) => ms)),
    over: delays.filter((ms) => ms > MAX_HOLD_MS).length,
    looks: found.length,
  };
}
