import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import { LAST_CHANNEL, type DeliveryTarget } from '../../../base/action.ts';
import { defined } from '../../../base/json.ts';
import { clearControl } from '../../../base/telemetry/telemetry.ts';
import { within } from '../../../base/timers/timers.ts';
import type { Settings } from '../../../engine/config/config.ts';
import {
  channelProblems,
  findChannelModule,
  loadChannelCatalog,
  openChannels,
  recipientProblem,
  type ChannelCatalog,
  type ChannelModule,
  type OpenChannels,
} from '../../../service/channels/channels.ts';
import { resolveTarget, sendChunks } from '../../../service/gateway/gateway.ts';
import { useLastChannel } from '../../../service/operations/operations.ts';
import type { Cli } from '../command-line.ts';
import { loadSettings, type ConfigFlags, type JsonFlags } from '../config-file.ts';
import { printJson, type ChannelVerdict, type LastChannel } from '../json.ts';
import { type Column, formatRows } from '../operating/listings.ts';
import { withOperator, withStore } from '../operating/store-tasks.ts';
import { CliError } from '../terminal.ts';

/** A check that ignores its signal is abandoned this long after it. */
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
  const [rows, last] = await withDesk(cli, flags, async (desk) => [
    await judgeChannels(desk, flags.timeout * 1000),
    lastChannel(await findLast(cli, flags), desk.settings),
  ]);
  if (flags.json === true) printJson(cli.terminal, 'channels check', { channels: rows, last });
  else {
    const none = 'no channel is configured: replies are not delivered';
    cli.terminal.out(rows.length === 0 ? none : formatRows(COLUMNS, rows));
    cli.terminal.out(`last: ${last.text}`);
  }
  if (rows.some((row) => !row.ok)) cli.setExitCode(1);
}

const COLUMNS: readonly Column<ChannelVerdict>[] = [
  ['channel', ({ channel }) => channel],
  ['state', ({ ok, code }) => (ok ? 'ok' : code)],
  ['', ({ ok, account, message }) => (ok ? account : message)],
];

/** Checks every configured channel for `sluice doctor`. */
export function tryChannels(
  settings: Settings,
  catalog: ChannelCatalog,
  timeoutMs: number,
): Promise<readonly ChannelVerdict[]> {
  return atDesk(settings, catalog, (desk) => judgeChannels(desk, timeoutMs));
}

function judgeChannels(
  { settings, catalog, channels }: ChannelDesk,
  timeoutMs: number,
): Promise<readonly ChannelVerdict[]> {
  const problems = channelProblems(catalog, settings.channels);
  return Promise.all(
    channels.ids.map(async (channel) => {
      const wrong = problems
        .filter((problem) => problem.channel === channel)
        .map(({ key, message }) => `${key === undefined ? '' : `${key}: `}${message}`);
      const state =
        wrong.length === 0
          ? await checkChannel(channels, channel, timeoutMs)
          : refused('settings', wrong.join('; '));
      return { channel, ...state };
    }),
  );
}

type ChannelState = Omit<ChannelVerdict, 'channel'>;
const refused = (code: string, message: string): ChannelState => ({ ok: false, account: '', code, message });

/** A plugin may ignore the signal or answer anything. The check ends all the same, and its row is text. */
async function checkChannel(channels: OpenChannels, id: string, timeoutMs: number): Promise<ChannelState> {
  try {
    const adapter = await channels.find(id);
    const checking = adapter?.check(AbortSignal.timeout(timeoutMs));
    const given: unknown = checking && (await within(checking, timeoutMs + CHECK_OVERTIME_MS));
    if (given === undefined) return refused('timeout', 'no answer in time');
    const { ok, account, code, message } = (given ?? {}) as Record<string, unknown>;
    const text = (value: unknown, other: string): string => (typeof value === 'string' ? value : other);
    if (ok === true) return { ok, account: text(account, ''), code: '', message: '' };
    return refused(text(code, 'unavailable'), text(message, 'the channel gave no reason'));
  } catch (error) {
    return refused('unavailable', messageOf(error));
  }
}

function lastChannel(last: DeliveryTarget | undefined, settings: Settings): LastChannel {
  const resolved = resolveTarget({ channel: LAST_CHANNEL }, last, settings);
  if (resolved.kind === 'no-channel') return { text: 'nothing, because no channel is configured' };
  if (resolved.kind === 'problem') return { text: `${resolved.code}: ${resolved.message}` };
  const { channel, to } = resolved;
  return { text: `${channel} to ${to}`, channel, to };
}

/** A store that does not exist yet has no last channel, which is no finding of these commands. */
const findLast = (cli: Cli, flags: ConfigFlags): Promise<DeliveryTarget | undefined> =>
  withStore(cli, flags, (storage) => storage.findLastTarget()).catch(() => undefined);

/**
 * Sends one text through a channel, or through `last`, cut and resolved as a delivery is; says what the
 * platform answered.
 */
export async function sendMessage(
  cli: Cli,
  channel: string,
  text: string,
  flags: ConfigFlags & { readonly to?: string },
): Promise<void> {
  await withDesk(cli, flags, async (desk) => {
    const { to, ...target } = chooseTarget(desk, channel, { to: flags.to, last: await findLast(cli, flags) });
    const adapter = await desk.channels.find(target.channel);
    if (adapter === undefined) throw new CliError(`channel ${target.channel} has no settings`, 2);
    let count = 1;
    const delivery = { ...target, to, text, fromMain: false };
    const entry = { id: `cli-${randomUUID()}`, chunksSent: 0, delivery };
    const result = await sendChunks(adapter, entry, {
      to,
      signal: new AbortController().signal,
      onProgress: async (sent) => void (count = sent + 1),
    });
    if (result.kind !== 'sent') {
      const before = count === 1 ? '' : ` (after ${count - 1} of its messages)`;
      throw new CliError(`${result.kind}: ${clearControl(result.message)}${before}`);
    }
    const as = result.messageId === undefined ? '' : ` as ${clearControl(result.messageId)}`;
    const where = clearControl(`${target.channel} ${to}`);
    cli.terminal.out(`sent to ${where}${as}${count === 1 ? '' : `, in ${count} messages`}`);
  });
}

/** @throws CliError where a message cannot go there */
function chooseTarget(
  { settings, catalog }: ChannelDesk,
  channel: string,
  { to, last }: { readonly to: string | undefined; readonly last: DeliveryTarget | undefined },
): { readonly channel: string; readonly to: string } {
  const wanted = channel.trim().toLowerCase();
  const id = wanted === LAST_CHANNEL ? wanted : getModule(catalog, wanted).id;
  const target = resolveTarget({ channel: id, ...defined({ to }) }, last, settings);
  if (target.kind === 'no-channel') throw new CliError('no channel is configured: write channels.<id>', 2);
  if (target.kind === 'problem') throw new CliError(`${target.code}: ${target.message}`, 2);
  const problem = recipientProblem(catalog, target.channel, target.to);
  if (problem !== undefined) throw new CliError(problem, 2);
  return target;
}

function getModule(catalog: ChannelCatalog, channel: string): ChannelModule {
  const module = findChannelModule(catalog, channel);
  if (module !== undefined) return module;
  const known = [...catalog.modules.keys()].join(', ');
  throw new CliError(`there is no channel ${JSON.stringify(channel)}; the channels are: ${known}`, 2);
}

/** Makes a channel (and recipient) the one that `last` means for the main session. */
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
    const target = { channel: module.id, ...defined({ to }) };
    await withOperator(cli, flags, (operator) => useLastChannel(operator, target));
    cli.terminal.out(`last is now ${module.id}${to === undefined ? '' : ` to ${to}`}`);
  });
}

async function withDesk<Result>(
  cli: Cli,
  flags: ConfigFlags,
  use: (desk: ChannelDesk) => Promise<Result>,
): Promise<Result> {
  const { settings, file } = await loadSettings(cli.terminal, flags, { needSecrets: true });
  return atDesk(settings, await loadChannelCatalog(settings.plugins, dirname(file)), use);
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
