import { dirname } from 'node:path';
import { LAST_CHANNEL } from '../action.ts';
import type { Settings } from '../config/config.ts';
import {
  channelProblems,
  findChannelModule,
  loadChannelCatalog,
  openChannels,
  resolveTarget,
  type ChannelCatalog,
  type OpenChannels,
} from '../gateway/gateway.ts';
import { clearControl } from '../telemetry/telemetry.ts';
import type { Cli } from './command-line.ts';
import { loadSettings, type ConfigFlags } from './config-file.ts';
import { withStore } from './store.ts';
import { CliError, formatTable } from './terminal.ts';

interface ChannelDesk {
  readonly settings: Settings;
  readonly catalog: ChannelCatalog;
  readonly channels: OpenChannels;
}

/** Verifies the credentials of every configured channel and shows what `last` resolves to. */
export async function checkChannels(
  cli: Cli,
  flags: ConfigFlags & { readonly json?: boolean; readonly timeout: number },
): Promise<void> {
  await withDesk(cli, flags, async ({ settings, catalog, channels }) => {
    const problems = channelProblems(catalog, settings.channels);
    const rows = await Promise.all(
      channels.ids.map(async (id) => {
        const wrong = problems.filter((problem) => problem.channel === id);
        if (wrong.length > 0) {
          const message = wrong.map(
            (problem) => `${problem.key === undefined ? '' : `${problem.key}: `}${problem.message}`,
          );
          return { channel: id, ok: false, account: '', code: 'settings', message: message.join('; ') };
        }
        return { channel: id, ...(await checkChannel(channels, id, flags.timeout * 1000)) };
      }),
    );
    const last = await resolveLast(cli, flags, settings);
    if (flags.json === true) cli.terminal.out(JSON.stringify({ channels: rows, last }));
    else {
      const cells = rows.map((row) => [
        row.channel,
        row.ok ? 'ok' : row.code,
        row.ok ? row.account : row.message,
      ]);
      if (rows.length === 0) cli.terminal.out('no channel is configured: replies are not delivered');
      else
        cli.terminal.out(
          formatTable(
            ['channel', 'state', ''],
            cells.map((row) => row.map((cell) => clearControl(cell))),
          ),
        );
      cli.terminal.out(`last: ${last.text}`);
    }
    if (rows.some((row) => !row.ok)) cli.setExitCode(1);
  });
}

async function checkChannel(
  channels: OpenChannels,
  id: string,
  timeoutMs: number,
): Promise<{ ok: boolean; account: string; code: string; message: string }> {
  try {
    const adapter = await channels.find(id);
    if (adapter === undefined)
      return { ok: false, account: '', code: 'not_configured', message: `channels.${id} is missing` };
    const result = await adapter.check(AbortSignal.timeout(timeoutMs));
    return result.ok
      ? { ok: true, account: result.account, code: '', message: '' }
      : { ok: false, account: '', code: result.code, message: result.message };
  } catch (error) {
    return {
      ok: false,
      account: '',
      code: 'unavailable',
      message: error instanceof Error ? error.message : String(error),
    };
  }
}

async function resolveLast(
  cli: Cli,
  flags: ConfigFlags,
  settings: Settings,
): Promise<{ text: string; channel?: string; to?: string }> {
  // A store that does not exist yet has no last channel; that is no finding of this command.
  const remembered = await withStore(cli, flags, (storage) => storage.findLastTarget()).catch(
    () => undefined,
  );
  const resolved = resolveTarget({ channel: LAST_CHANNEL }, remembered, settings);
  switch (resolved.kind) {
    case 'target':
      return { text: `${resolved.channel} to ${resolved.to}`, channel: resolved.channel, to: resolved.to };
    case 'no-channel':
      return { text: 'nothing, because no channel is configured' };
    case 'problem':
      return { text: `${resolved.code}: ${resolved.message}` };
  }
}

/** Sends one message through a channel; says what the platform answered. */
export async function sendMessage(
  cli: Cli,
  channel: string,
  text: string,
  flags: ConfigFlags & { readonly to?: string },
): Promise<void> {
  await withDesk(cli, flags, async ({ catalog, channels }) => {
    const module = findChannelModule(catalog, channel);
    if (module === undefined) {
      throw new CliError(
        `there is no channel ${JSON.stringify(channel)}; known are ${[...catalog.modules.keys()].join(', ')}`,
        2,
      );
    }
    const to = flags.to ?? channels.defaultRecipient(module.id);
    if (to === undefined)
      throw new CliError(`channels.${module.id}.to is not set; name the recipient with --to`, 2);
    const problem = module.recipientProblem(to);
    if (problem !== undefined) throw new CliError(problem, 2);
    const adapter = await channels.find(module.id);
    if (adapter === undefined)
      throw new CliError(`channel ${module.id} is not configured: write channels.${module.id}`);
    const key = `cli-${Date.now()}`;
    let result = await adapter.send({ to, text, plain: false, key }, AbortSignal.timeout(30_000));
    if (result.kind === 'refused-format') {
      result = await adapter.send({ to, text, plain: true, key }, AbortSignal.timeout(30_000));
    }
    if (result.kind === 'sent')
      cli.terminal.out(`sent${result.messageId === undefined ? '' : ` as ${result.messageId}`}`);
    else throw new CliError(`${result.kind}: ${clearControl(result.message)}`);
  });
}

/** Makes a channel (and recipient) the one `last` means for the main session. */
export async function useChannel(
  cli: Cli,
  channel: string,
  to: string | undefined,
  flags: ConfigFlags,
): Promise<void> {
  await withDesk(cli, flags, async ({ catalog }) => {
    const module = findChannelModule(catalog, channel);
    if (module === undefined) {
      throw new CliError(
        `there is no channel ${JSON.stringify(channel)}; known are ${[...catalog.modules.keys()].join(', ')}`,
        2,
      );
    }
    const problem = to === undefined ? undefined : module.recipientProblem(to);
    if (problem !== undefined) throw new CliError(problem, 2);
    const target = { channel: module.id, ...(to === undefined ? {} : { to }) };
    await withStore(cli, flags, (storage) => storage.saveLastTarget(target, Date.now()));
    cli.terminal.out(`last is now ${module.id}${to === undefined ? '' : ` to ${to}`}`);
  });
}

async function withDesk(
  cli: Cli,
  flags: ConfigFlags,
  use: (desk: ChannelDesk) => Promise<void>,
): Promise<void> {
  const { settings, file } = await loadSettings(cli.terminal, flags, { needSecrets: true });
  const catalog = await loadChannelCatalog(settings.plugins, dirname(file));
  const channels = openChannels(catalog, settings.channels);
  try {
    await use({ settings, catalog, channels });
  } finally {
    await channels.stop();
  }
}
