/**
 * The webhook of `sluice dev --register`. It has the address of the tunnel, whatever that is, and goes with the command.
 * Before it is made or moved, each address that it may then have is written down: where the command is killed, the next
 * one finds it by them. No other webhook is touched.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import { shellWord } from '../../../engine/config/facts.ts';
import { printSentence, type Sentence } from '../../../base/finding.ts';
import { defined, readJson } from '../../../base/json.ts';
import { pause, within } from '../../../base/timers/timers.ts';
import { hooksAddress } from '../../../engine/config/config.ts';
import { RECOVER_DEFAULTS } from '../../../engine/mapping/mapping.ts';
import { knownSenders, placeOf, type Registration } from '../../../engine/senders/senders.ts';
import {
  type Generation,
  type PathRecovery,
  type Problem,
  recoveryOf,
  senderOf,
} from '../../../service/generation/generation.ts';
import { newState, recoverPath } from '../../../service/recovery/recovery.ts';
import type { ConsoleParts } from '../../../service/startup/startup.ts';
import {
  agree,
  changeWebhook,
  type ListedWebhook,
  listWebhooks,
  readAccessToken,
  WebhookRefused,
  type WebhookRegistration,
} from '../setup/register.ts';
import { commandLine } from '../next-steps.ts';
import { CliError, type Terminal } from '../terminal.ts';

/** How often the log of the sender is looked at, and what went wrong is tried again. */
const LOOK_MS = 30_000;
/** How long the next event waits for the one before. */
const ARRIVAL_MS = 5_000;
/** How long the end waits for what is being asked, and then for its own requests. */
const END_MS = 6_000;

export interface RegisterFlags {
  /** What the webhook is of: `TARGET`, or `PATH=TARGET` where the first path that takes it is not meant. */
  readonly register?: string;
  readonly tokenFile?: string;
  readonly api?: string;
  readonly yes?: boolean;
}

/** What is known of the one path whose sender has webhooks that can be moved, and takes the target. */
async function findPath(
  { table, config }: Generation,
  { register = '', api }: RegisterFlags,
): Promise<{ readonly recovery: PathRecovery; readonly secret: string }> {
  const [, named, target] = /^(?:([^=]*)=)?(.*)$/.exec(register) ?? [];
  const senders = await knownSenders(config.file, config.settings.hooks);
  for (const path of table.paths) {
    const own = table.settingsOf(path).recover ?? { ...RECOVER_DEFAULTS, token: '' };
    const asked = { path, table, senders, settings: { ...own, ...defined({ target, api }) } };
    const { interface: face, register: made } = senderOf(asked) ?? {};
    if (named !== undefined && named !== path) continue;
    if (!face || !made?.move || placeOf(face, target) === undefined) continue;
    const problems: Problem[] = [];
    const recovery = recoveryOf(asked, problems);
    const [secret] = table.settingsOf(path).verify?.secrets ?? [];
    if (recovery !== undefined && secret !== undefined && problems.length === 0) return { recovery, secret };
    const why = problems[0]?.slice(0, 2).map((each) => printSentence(each as Sentence));
    const noSecret = 'it has no secret that the sender could sign with: "sluice add" makes one';
    throw new CliError(`--register of the path ${path}: ${why?.join('; ') ?? noSecret}`, 2);
  }
  const able = senders.filter((each) => each.register?.move !== undefined).map(({ name }) => name);
  throw new CliError(
    `--register ${register}: no path ${named ?? 'here'} takes that. It is a target such as owner/name, or PATH=TARGET, of a path of ${able.join(' or ')}; "sluice add NAME" adds one`,
    2,
  );
}

export interface DevWebhook {
  /** Has it lead to a tunnel until the signal fires, and what did not arrive sent again. @throws CliError */
  serve(origin: string, signal: AbortSignal): Promise<void>;
  /** Takes it away. Never rejects. */
  remove(): Promise<void>;
}

/** Finds the path, reads the access token, and asks. @throws CliError where no webhook can be made, or nobody wants it */
export async function openWebhook(
  terminal: Terminal,
  generation: Generation,
  { storage, server, ...flags }: RegisterFlags & Pick<ConsoleParts, 'storage' | 'server'>,
): Promise<DevWebhook> {
  const { file: configFile, settings } = generation.config;
  const { recovery, secret } = await findPath(generation, flags);
  const { path, sender, asked } = recovery;
  const { title, api, target = '' } = asked;
  const known = flags.tokenFile === undefined ? generation.readReference(recovery.settings.token) : undefined;
  const token = known?.trim() ?? (await readAccessToken(terminal, asked, flags.tokenFile));
  const over = new AbortController();
  const of = { sender, register: sender.register as Registration, webhooks: sender.webhooks };
  const own = { ...asked, ...of, token, secret, isSure: flags.yes === true };
  const givenAt = (url: string, signal = over.signal): WebhookRegistration => ({ ...own, url, signal });
  const addressAt = (origin: string): string => `${hooksAddress(origin, settings)}/${path}`;
  await agree(terminal, givenAt(addressAt('https://ADDRESS-OF-THE-TUNNEL')), ['create', 'move', 'remove']);

  const file = join(dirname(configFile), '.sluice', 'dev-webhooks.json');
  const place = `${api.href} ${target}`;
  const left = readLeft(file);
  const others = left.filter((each) => each.place !== place);
  /** Addresses that the own webhook may have. */
  let addresses: readonly string[] = left.filter((each) => !others.includes(each)).map(({ url }) => url);
  const note = (urls: readonly string[]): void => {
    addresses = urls;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, JSON.stringify([...others, ...urls.map((url) => ({ place, url }))]));
  };
  for (const { url, place: other } of others)
    terminal.err(`an earlier sluice dev has left the webhook for ${url} at ${other}: delete it there`);
  process.once('exit', () => {
    for (const url of addresses) {
      const command = `add ${path} --remove ${shellWord(target)} --url ${new URL(url).origin} --api ${api.href}`;
      const remedy =
        path === sender.name ? `run ${commandLine(terminal, configFile, command)}` : 'delete it there';
      terminal.err(
        `${title} may still have the webhook for ${url}: the end of the next sluice dev that registers it takes it away, or ${remedy}`,
      );
    }
  });
  const ownOf = (all: readonly ListedWebhook[]): readonly ListedWebhook[] =>
    all.filter(({ url }) => addresses.includes(String(url)));

  /** The one with the address of the tunnel. */
  let current: ListedWebhook | undefined;
  let moving: Promise<unknown> = Promise.resolve();
  let isMade = false;
  const makeOrMove = async (url: string): Promise<void> => {
    const given = givenAt(url);
    const all = await listWebhooks(given);
    const [first, ...more] = ownOf(all);
    current = first === undefined ? all.find((each) => each.url === url) : undefined;
    isMade ||= current !== undefined;
    if (current !== undefined)
      return terminal.err(`${title} has a webhook for ${url} already: it stays as it is, also at the end`);
    for (const { id } of more) await changeWebhook(given, 'remove', id);
    const before = addresses;
    note([...before, url]);
    try {
      await changeWebhook(given, first === undefined ? 'create' : 'move', first?.id);
    } catch (error) {
      if (error instanceof WebhookRefused && error.status < 500) note(before);
      throw error;
    }
    note([url]);
    isMade = true;
    [current] = ownOf(await listWebhooks(given));
    terminal.err(`${title} has the webhook for ${url} now; it is taken away when this ends`);
  };
  const moveTo = (url: string): Promise<void> => {
    const made = makeOrMove(url);
    moving = made.catch(() => undefined);
    return made;
  };

  const state = newState();
  const began = performance.now();
  /** Asks for what this webhook could not deliver since the command began; how far that is stays in memory. */
  const recover = async (signal: AbortSignal): Promise<void> => {
    const nothing = (): Promise<void> => Promise.resolve();
    const parts = { storage, wish: undefined, save: nothing, othersKnow: nothing, arrivalMs: ARRIVAL_MS };
    const hook = { ...recovery.settings, hook: current?.id };
    const maxAgeMs = Math.min(recovery.maxAgeMs, performance.now() - began);
    const asker = { ...recovery, settings: hook, maxAgeMs, token, signal, url: undefined, urlPath: '' };
    await recoverPath(asker, state, {
      ...parts,
      arrival: () => new Promise(() => undefined),
      deliver: (delivery) => server.deliver(delivery),
      gaveUp: (event) => terminal.err(`${title}: ${event} was asked for three times and did not come`),
    });
    const { asked: count, came } = state.last;
    if (count > 0) terminal.err(`${title} was asked for ${count} that the tunnel had dropped: ${came} came`);
  };
  const follow = async (url: string, signal: AbortSignal): Promise<void> => {
    for (let trouble = ''; !signal.aborted; await pause(LOOK_MS, signal)) {
      try {
        if (current?.url !== url) await moveTo(url);
        await recover(signal);
        trouble = '';
      } catch (error) {
        const said = messageOf(error);
        if (said !== trouble && !signal.aborted) terminal.err(`${said}; it is tried again`);
        trouble = said;
      }
    }
  };

  return {
    serve: async (origin, signal) => {
      const url = addressAt(origin);
      // Where it cannot be made the command ends; what was made is tried again.
      if (!isMade) await moveTo(url);
      void follow(url, AbortSignal.any([signal, over.signal]));
    },
    remove: async () => {
      // What is being asked may be done, although nobody waits for the answer any more.
      await within(moving, END_MS);
      over.abort();
      if (addresses.length === 0) return;
      const given = givenAt('', AbortSignal.timeout(END_MS));
      try {
        const found = ownOf(await listWebhooks(given));
        for (const { id } of found) await changeWebhook(given, 'remove', id);
        // What was asked for and not answered may be done later.
        if (found.length === 0 && !isMade) return;
        note([]);
        terminal.err(`${title} has no webhook of this command any more`);
      } catch (error) {
        terminal.err(messageOf(error));
      }
    },
  };
}

/** A file that is not there, or was cut off, tells of none. */
function readLeft(file: string): readonly { readonly place: string; readonly url: string }[] {
  const read = existsSync(file) ? readJson(readFileSync(file, 'utf8')) : undefined;
  return (Array.isArray(read) ? read : []) as ReturnType<typeof readLeft>;
}
