import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LAST_CHANNEL, type DeliveryTarget } from '../../../base/action.ts';
import type { Settings } from '../../../engine/config/config.ts';
import {
  channelProblems,
  findChannelModule,
  loadChannelCatalog,
  openChannels,
  recipientProblem,
  type ChannelAdapter,
  type ChannelCatalog,
  type ChannelModule,
  type OpenChannels,
} from '../../../service/channels/channels.ts';
import type { Generation } from '../../../service/generation/generation.ts';
import { resolveTarget, sendChunks } from '../../../service/gateway/gateway.ts';
import { useLastChannel } from '../../../service/operations/operations.ts';
import { clearControl } from '../../../base/telemetry/telemetry.ts';
import type { Cli } from '../command-line.ts';
import { loadSettings, type ConfigFlags, type JsonFlags } from '../config-file.ts';
import { printJson, type ChannelVerdict, type LastChannel } from '../json.ts';
import { type Column, formatRows } from '../operating/listings.ts';
import { withOperator, withStore } from '../operating/store-tasks.ts';
import { CliError } from '../terminal.ts';

/** A check that does not heed its signal is given up this long after it. */
const CHECK_OVERTIME_MS = 1_000;

interface ChannelDesk {
  readonly settings: Settings;
  readonly catalog: ChannelCatalog;
  readonly channels: OpenChannels;
}

/** Verifies the credentials of every configured channel and shows what `last` resolves to. */
export async function checkChannels(
  cli: Cli,
  flags: JsonFlags & { readonly timeout: number },
): Promise<void> {
  await withDesk(cli, flags, async (desk) => {
    const { settings } = desk;
    const rows = await judgeChannels(desk, flags.timeout * 1000);
    const last = await resolveLast(cli, flags, settings);
    if (flags.json === true) printJson(cli.terminal, 'channels check', { channels: rows, last });
    else printChannels(cli, rows, last.text);
    if (rows.some((row) => !row.ok)) cli.setExitCode(1);
  });
}

const COLUMNS: readonly Column<ChannelVerdict>[] = [
  ['channel', ({ channel }) => channel],
  ['state', ({ ok, code }) => (ok ? 'ok' : code)],
  ['', ({ ok, account, message }) => (ok ? account : message)],
];

function printChannels({ terminal }: Cli, rows: readonly ChannelVerdict[], last: string): void {
  const isNone = rows.length === 0;
  terminal.out(isNone ? 'no channel is configured: replies are not delivered' : formatRows(COLUMNS, rows));
  terminal.out(`last: ${last}`);
}

/** Asks every configured channel whether its credentials hold; for `sluice doctor`. */
export function tryChannels(
  { config: { settings }, channelCatalog }: Generation,
  timeoutMs: number,
): Promise<readonly ChannelVerdict[]> {
  return atDesk(settings, channelCatalog, (desk) => judgeChannels(desk, timeoutMs));
}

function judgeChannels(
  { settings, catalog, channels }: ChannelDesk,
  timeoutMs: number,
): Promise<readonly ChannelVerdict[]> {
  const problems = channelProblems(catalog, settings.channels);
  return Promise.all(
    channels.ids.map(async (id) => {
      const wrong = problems.filter((problem) => problem.channel === id);
      if (wrong.length === 0) return { channel: id, ...(await checkChannel(channels, id, timeoutMs)) };
      const message = wrong.map(
        (problem) => `${problem.key === undefined ? '' : `${problem.key}: `}${problem.message}`,
      );
      return { channel: id, ok: false, account: '', code: 'settings', message: message.join('; ') };
    }),
  );
}

async function checkChannel(channels: OpenChannels, id: string, timeoutMs: number): Promise<ChannelState> {
  const bad = (code: string, message: string): ChannelState => ({ ok: false, account: '', code, message });
  try {
    const adapter = await channels.find(id);
    if (adapter === undefined) return bad('not_configured', `channels.${id} is missing`);
    return await boundedCheck(adapter, timeoutMs);
  } catch (error) {
    return bad('unavailable', error instanceof Error ? error.message : String(error));
  }
}

type ChannelState = Omit<ChannelVerdict, 'channel'>;

/** A plugin may ignore the signal or answer anything: the check ends all the same, and its row is text. */
async function boundedCheck(adapter: ChannelAdapter, timeoutMs: number): Promise<ChannelState> {
  const late = new AbortController();
  const silence = pause(timeoutMs + CHECK_OVERTIME_MS, undefined, { signal: late.signal, ref: true });
  try {
    return stateOf(await Promise.race([adapter.check(AbortSignal.timeout(timeoutMs)), silence]));
  } finally {
    late.abort();
    silence.catch(() => {});
  }
}

/** What an adapter answered, whatever that is; undefined where it did not answer. */
function stateOf(given: unknown): ChannelState {
  const { ok, account, code, message } = (given ?? {}) as Record<string, unknown>;
  const text = (value: unknown, other: string): string => (typeof value === 'string' ? value : other);
  if (ok === true) return { ok, account: text(account, ''), code: '', message: '' };
  if (given === undefined) return { ok: false, account: '', code: 'timeout', message: 'no answer in time' };
  return {
    ok: false,
    account: '',
    code: text(code, 'unavailable'),
    message: text(message, 'the channel gave no reason'),
  };
}

async function resolveLast(cli: Cli, flags: ConfigFlags, settings: Settings): Promise<LastChannel> {
  const resolved = resolveTarget({ channel: LAST_CHANNEL }, await findLast(cli, flags), settings);
  switch (resolved.kind) {
    case 'target':
      return { text: `${resolved.channel} to ${resolved.to}`, channel: resolved.channel, to: resolved.to };
    case 'no-channel':
      return { text: 'nothing, because no channel is configured' };
    case 'problem':
      return { text: `${resolved.code}: ${resolved.message}` };
  }
}

/** A store that does not exist yet has no last channel; that is no finding of these commands. */
async function findLast(cli: Cli, flags: ConfigFlags): Promise<DeliveryTarget | undefined> {
  return withStore(cli, flags, (storage) => storage.findLastTarget()).catch(() => undefined);
}

/** Sends one text through a channel, or through `last`, cut and resolved as a delivery is; says what the platform answered. */
export async function sendMessage(
  cli: Cli,
  channel: string,
  text: string,
  flags: ConfigFlags & { readonly to?: string },
): Promise<void> {
  await withDesk(cli, flags, async ({ settings, catalog, channels }) => {
    const last = await findLast(cli, flags);
    const target = chooseTarget({ settings, catalog }, channel, { to: flags.to, last });
    const adapter = await channels.find(target.channel);
    assert(adapter !== undefined, 'a channel that resolves is configured');
    const { count, messageId } = await sendText(adapter, text, target);
    const as = messageId === undefined ? '' : ` as ${clearControl(messageId)}`;
    const where = clearControl(`${target.channel} ${target.to}`);
    cli.terminal.out(`sent to ${where}${as}${count === 1 ? '' : `, in ${count} messages`}`);
  });
}

/** @throws CliError where a message cannot go there */
function chooseTarget(
  { settings, catalog }: Pick<ChannelDesk, 'settings' | 'catalog'>,
  channel: string,
  { to, last }: { readonly to: string | undefined; readonly last: DeliveryTarget | undefined },
): { readonly channel: string; readonly to: string } {
  const wanted = channel.trim().toLowerCase();
  const id = wanted === LAST_CHANNEL ? wanted : getModule(catalog, wanted).id;
  const target = resolveTarget({ channel: id, ...(to === undefined ? {} : { to }) }, last, settings);
  if (target.kind === 'no-channel') throw new CliError('no channel is configured: write channels.<id>', 2);
  if (target.kind === 'problem') throw new CliError(`${target.code}: ${target.message}`, 2);
  const problem = recipientProblem(catalog, target.channel, target.to);
  if (problem !== undefined) throw new CliError(problem, 2);
  return target;
}

/** Sends a text as a delivery is sent; says in how many messages, and what the platform calls the last one. */
async function sendText(
  adapter: ChannelAdapter,
  text: string,
  { channel, to }: { readonly channel: string; readonly to: string },
): Promise<{ readonly count: number; readonly messageId: string | undefined }> {
  let count = 1;
  const delivery = { channel, to, text, fromMain: false };
  const entry = { id: `cli-${randomUUID()}`, chunksSent: 0, delivery };
  const result = await sendChunks(adapter, entry, {
    to,
    signal: new AbortController().signal,
    onProgress: async (sent) => void (count = sent + 1),
  });
  if (result.kind === 'sent') return { count, messageId: result.messageId };
  const before = count === 1 ? '' : ` (after ${count - 1} of its messages)`;
  throw new CliError(`${result.kind}: ${clearControl(result.message)}${before}`);
}

function getModule(catalog: ChannelCatalog, channel: string): ChannelModule {
  const module = findChannelModule(catalog, channel);
  if (module !== undefined) return module;
  const known = [...catalog.modules.keys()].join(', ');
  throw new CliError(`there is no channel ${JSON.stringify(channel)}; the channels are: ${known}`, 2);
}

/** Makes a channel (and recipient) the one `last` means for the main session. */
export async function useChannel(
  cli: Cli,
  channel: string,
  to: string | undefined,
  flags: ConfigFlags,
): Promise<void> {
  await withDesk(cli, flags, async ({ catalog, channels }) => {
    const module = getModule(catalog, channel.trim().toLowerCase());
    const problem = to === undefined ? undefined : recipientProblem(catalog, module.id, to);
    if (problem !== undefined) throw new CliError(problem, 2);
    if (!channels.ids.includes(module.id)) {
      throw new CliError(`channel ${module.id} has no settings: add channels.${module.id}`, 2);
    }
    const target = { channel: module.id, ...(to === undefined ? {} : { to }) };
    await withOperator(cli, flags, (operator) => useLastChannel(operator, target));
    cli.terminal.out(`last is now ${module.id}${to === undefined ? '' : ` to ${to}`}`);
  });
}

async function withDesk(
  cli: Cli,
  flags: ConfigFlags,
  use: (desk: ChannelDesk) => Promise<void>,
): Promise<void> {
  const { settings, file } = await loadSettings(cli.terminal, flags, { needSecrets: true });
  await atDesk(settings, await loadChannelCatalog(settings.plugins, dirname(file)), use);
}

async function atDesk<Result>(
  settings: Settings,
  catalog: ChannelCatalog,
  use: (desk: ChannelDesk) => Promise<Result>,
): Promise<Result> {
  const channels = openChannels(catalog, settings.channels);
  try {
    return await use({ settings, catalog, channels });
  } finally {
    await channels.stop();
  }
}
