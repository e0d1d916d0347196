/** Asks the real OpenClaw gateway the rows of `test/support/openclaw-rows.ts`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { dirname, join } from 'node:path';
import {
  HOOK_TOKEN,
  type OpenClawFolder,
  type RealGateway,
  startOpenClaw,
  versionOf,
} from '../../support/openclaw-gateway.ts';
import { shortAnswer, type Row, type Step } from '../../support/openclaw-rows.ts';

export interface RecordedRow {
  /** Why it did not start. */
  readonly refused?: string;
  /** As rows compare them; 'refused' alone where it did not start. */
  readonly answers: readonly string[];
  /** What it said beside an error. */
  readonly errors: readonly string[];
  /** Warnings of its log about hooks. */
  readonly log: readonly string[];
}

/** How long a turn of the main session may take to begin; a reload is read after a second. */
const HEARD_MS = 40_000;
const RELOAD_MS = 6_000;
const START_MS = 120_000;

const TELEGRAM = {
  enabled: true,
  botToken: '123:abcdefghijklmnopqrstuvwxyz012345678',
  dmPolicy: 'open',
  allowFrom: ['*'],
};

/** What the gateway says of its main session before and after somebody has written to it over Telegram. */
export async function recordLastRoute(folder: OpenClawFolder): Promise<object> {
  const describe = async (gateway: RealGateway): Promise<unknown> => {
    const printed = await gateway.command(
      'gateway',
      'call',
      'sessions.describe',
      '--json',
      '--params',
      '{"key":"main"}',
    );
    return shownRoute(
      JSON.parse(printed.slice(printed.indexOf('{'))) as { readonly session: SessionRow | null },
    );
  };
  const silent = await startOpenClaw(folder, {});
  if (silent.kind === 'refused') throw new Error(silent.said);
  const before = await describe(silent.gateway);
  await silent.gateway.stop();
  const asked = await startOpenClaw(folder, { channels: { telegram: TELEGRAM } });
  if (asked.kind === 'refused') throw new Error(asked.said);
  const { gateway } = asked;
  try {
    for (const end = Date.now() + START_MS; Date.now() < end && gateway.prompts.length === 0;)
      await pause(500);
    await pause(RELOAD_MS);
    return { package: 'openclaw', version: versionOf(folder), before, after: await describe(gateway) };
  } finally {
    await gateway.stop();
  }
}

type SessionRow = Readonly<Record<string, unknown>>;

/** Of some forty fields those that name the session and its last route. */
function shownRoute({ session }: { readonly session: SessionRow | null }): object {
  if (session === null) return { session };
  const shown = [
    'key',
    'isMain',
    'deliveryContext',
    'lastChannel',
    'lastTo',
    'lastAccountId',
    'lastThreadId',
  ];
  return {
    session: Object.fromEntries(shown.flatMap((key) => (key in session ? [[key, session[key]]] : []))),
  };
}

/** Starts the gateway on the configuration of a row and takes its steps. */
export async function recordRow(folder: OpenClawFolder, row: Row): Promise<RecordedRow> {
  const started = await startOpenClaw(folder, row.config, row.files);
  if (started.kind === 'refused')
    return { refused: lastError(started.said), answers: ['refused'], errors: [], log: [] };
  const { gateway } = started;
  try {
    const seen: string[] = [];
    const answers: string[] = [];
    const errors: string[] = [];
    for (const step of row.steps) {
      const answer = await take(gateway, step, seen);
      if (answer.short !== undefined) answers.push(answer.short);
      if (answer.error !== undefined && !errors.includes(answer.error)) errors.push(answer.error);
    }
    return { answers, errors, log: hookWarnings(gateway.said()) };
  } finally {
    await gateway.stop();
  }
}

interface Taken {
  readonly short?: string;
  readonly error?: string;
}

async function take(gateway: RealGateway, step: Step, seen: string[]): Promise<Taken> {
  if ('heard' in step) return { short: (await isHeard(gateway, step.heard)) ? 'heard' : 'not heard' };
  if ('write' in step) {
    for (const [name, text] of Object.entries(step.write)) {
      mkdirSync(dirname(join(gateway.home, name)), { recursive: true });
      writeFileSync(join(gateway.home, name), text);
    }
    gateway.configure(step.config);
    await pause(RELOAD_MS);
    return {};
  }
  let taken: Taken = {};
  for (let sent = 0; sent < (step.times ?? 1); sent += 1) taken = await post(gateway, step, seen);
  return taken;
}

async function post(
  { url }: RealGateway,
  step: Extract<Step, { readonly post: string }>,
  seen: string[],
): Promise<Taken> {
  const ask = (): Promise<Response> =>
    fetch(`${url}/hooks/${step.post}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${HOOK_TOKEN}`, 'content-type': 'application/json', ...step.headers },
      body: JSON.stringify(step.body),
    });
  let answer = await ask();
  // On a busy machine it gives up runs that do not begin within 15 s.
  for (let again = 0; again < 5 && answer.status === 503; again += 1) answer = await ask();
  const text = await answer.text();
  const body: unknown = text.startsWith('{') ? JSON.parse(text) : text;
  const { error } = (typeof body === 'object' ? body : {}) as { readonly error?: string };
  return {
    short: shortAnswer({ status: answer.status, body }, seen),
    ...(error === undefined ? {} : { error }),
  };
}

async function isHeard({ prompts }: RealGateway, words: string): Promise<boolean> {
  for (const end = Date.now() + HEARD_MS; Date.now() < end; await pause(100)) {
    if (prompts.some((prompt) => prompt.includes(words))) return true;
  }
  return false;
}

const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');

const linesOf = (said: string): readonly string[] =>
  said.split('\n').map((line) => line.replaceAll(COLOUR, '').trim());

function hookWarnings(said: string): readonly string[] {
  return linesOf(said)
    .filter((line) => line.includes('[hooks]') && !line.includes('run completed'))
    .map((line) => line.replace(/^.*\[hooks\]\s*/, ''));
}

function lastError(said: string): string {
  const lines = linesOf(said).filter((line) => /hooks?\./i.test(line));
  return (lines.at(-1) ?? linesOf(said).at(-1) ?? '').replace(/^\S*Z?\S*\s*/, '').slice(0, 300);
}
