import { resolve } from 'node:path';
import type { LocatedValue, Path } from '../../../base/document/document.ts';
import { isJsonObject } from '../../../base/json.ts';
import { recordAt, type Move, type Moves } from './graft.ts';

/** How one channel's settings are called there and here. */
interface ChannelKeys {
  /** Here by there, where that is a path below the channel (or below its account). */
  readonly keys: Readonly<Record<string, string>>;
  /** A file that holds the secret, and which key it stands for. */
  readonly fileKey?: readonly [there: string, here: string];
  /** The variable that stands in for a missing secret of the default account there. */
  readonly variable?: readonly [name: string, here: string];
  /** Why the channel cannot deliver from here where its settings there are not enough. */
  readonly missing?: string;
  /** Without these nothing can be sent. */
  readonly needs: readonly string[];
}

const COMMON: ChannelKeys['keys'] = { defaultTo: 'to' };

const same = (...keys: readonly string[]): ChannelKeys['keys'] =>
  Object.fromEntries(keys.map((key) => [key, key]));

/** After OpenClaw's documentation of each channel (2026.9). */
const CHANNELS: Readonly<Record<string, ChannelKeys>> = {
  telegram: {
    keys: { botToken: 'botToken', apiRoot: 'baseUrl' },
    fileKey: ['tokenFile', 'botToken'],
    variable: ['TELEGRAM_BOT_TOKEN', 'botToken'],
    needs: ['botToken'],
  },
  discord: { keys: { token: 'botToken' }, variable: ['DISCORD_BOT_TOKEN', 'botToken'], needs: ['botToken'] },
  slack: { keys: same('botToken'), variable: ['SLACK_BOT_TOKEN', 'botToken'], needs: ['botToken'] },
  signal: {
    keys: { account: 'account', 'transport.url': 'baseUrl', httpUrl: 'baseUrl' },
    needs: ['account'],
  },
  whatsapp: {
    keys: same('accessToken', 'phoneNumberId'),
    needs: ['accessToken', 'phoneNumberId'],
    missing:
      'the phone that is linked with the gateway cannot be used; the Cloud API needs accessToken and phoneNumberId',
  },
  msteams: {
    keys: same('appId', 'appPassword', 'tenantId'),
    variable: ['MSTEAMS_APP_PASSWORD', 'appPassword'],
    needs: ['appId', 'appPassword', 'tenantId'],
  },
  mattermost: {
    keys: same('botToken', 'baseUrl'),
    variable: ['MATTERMOST_BOT_TOKEN', 'botToken'],
    needs: ['botToken', 'baseUrl'],
  },
  imessage: { keys: same('cliPath'), needs: ['cliPath'] },
};

/** Channels that the gateway or its plugins bring (2026.9.6), with their other names, and that have no counterpart here. */
const OF_GATEWAY =
  `webchat buzz clickclack feishu lark googlechat google-chat gchat irc internet-relay-chat line matrix
  nextcloud-talk nc-talk nc nostr openclaw-weixin weixin wechat openclaw-zaloclawbot zaloclawbot zalo-clawbot qqbot raft
  reef sms synology-chat tlon twitch twitch-chat wecom qywx wework yuanbao yb zalo zl zalouser zlu a2a`.split(
    /\s+/,
  );

const NO_CHANNEL: readonly string[] = ['defaults', 'modelByChannel'];

/** The channels that only the gateway has: those that are known, and what else its file sets up. */
export function gatewayChannels(original: LocatedValue): readonly string[] {
  const written = Object.keys(recordAt(original, ['channels']) ?? {});
  return [...OF_GATEWAY, ...written.filter((id) => !NO_CHANNEL.includes(id) && !Object.hasOwn(CHANNELS, id))];
}

/** Translates `channels`: credentials and the default recipient. Everything about incoming messages stays there. */
export function translateChannels(
  original: LocatedValue,
  { env, directory }: ChannelOptions,
  result: Moves,
): void {
  for (const [id, settings] of Object.entries(recordAt(original, ['channels']) ?? {})) {
    if (NO_CHANNEL.includes(id) || (isJsonObject(settings) && settings['enabled'] === false)) continue;
    const known = Object.hasOwn(CHANNELS, id) ? CHANNELS[id] : undefined;
    if (known === undefined) {
      result.lost.push({
        path: ['channels', id],
        lost: `replies to ${id.slice(0, 40)} are not sent from here, and the summary of the run holds them`,
      });
      continue;
    }
    translateChannel(original, { id, known, env, directory }, result);
  }
}

export interface ChannelOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of the file, absolute. */
  readonly directory: string;
}

interface Channel extends ChannelOptions {
  readonly id: string;
  readonly known: ChannelKeys;
}

function translateChannel(original: LocatedValue, channel: Channel, result: Moves): void {
  const { id, known } = channel;
  const base: Path = ['channels', id];
  const account = defaultAccount(original, base);
  const moves = movesOfChannel(original, channel, account);
  const missing = known.needs.filter((key) => !moves.has(key));
  if (missing.length > 0) {
    const why = known.missing ?? `${missing.join(' and ')} would be needed`;
    result.lost.push({ path: base, lost: `replies to ${id} cannot be delivered: ${why}` });
    return;
  }
  result.moves.push(...moves.values());
  sayOtherAccounts(original, { base, id, account }, result);
}

/** The settings of a channel by our names: of its default account, then of the channel, then of the environment. */
function movesOfChannel(
  original: LocatedValue,
  { id, known, env, directory }: Channel,
  account: string | undefined,
): ReadonlyMap<string, Move> {
  const base: Path = ['channels', id];
  const levels: readonly Path[] = account === undefined ? [base] : [[...base, 'accounts', account], base];
  const moves = new Map<string, Move>();
  for (const level of levels) {
    addKeys(original, level, { known, base, moves });
    addFile(original, level, { known, base, moves, directory });
  }
  addVariable({ known, base, moves }, env);
  return moves;
}

interface ChannelTranslation {
  readonly known: ChannelKeys;
  readonly base: Path;
  /** By our names; what is there already stands. */
  readonly moves: Map<string, Move>;
}

function addKeys(original: LocatedValue, level: Path, { known, base, moves }: ChannelTranslation): void {
  for (const [there, here] of Object.entries({ ...known.keys, ...COMMON })) {
    const from = [...level, ...there.split('.')];
    if (!moves.has(here) && original.at(from).value !== undefined)
      moves.set(here, { from, to: [...base, here] });
  }
}

function addVariable({ known, base, moves }: ChannelTranslation, env: ChannelOptions['env']): void {
  const [variable, here] = known.variable ?? [];
  if (variable === undefined || here === undefined || moves.has(here) || !env[variable]) return;
  moves.set(here, { from: base, to: [...base, here], value: `\${${variable}}` });
}

interface FileKey extends ChannelTranslation {
  readonly directory: string;
}

function addFile(original: LocatedValue, level: Path, { known, base, moves, directory }: FileKey): void {
  const [there, here] = known.fileKey ?? [];
  if (there === undefined || here === undefined || moves.has(here)) return;
  const from = [...level, there];
  const { value } = original.at(from);
  if (typeof value === 'string')
    moves.set(here, { from, to: [...base, here], value: { file: resolve(directory, value) } });
}

/** The account that sends where none is named: `defaultAccount`, else `default`, else the first by name. */
function defaultAccount(original: LocatedValue, base: Path): string | undefined {
  const accounts = Object.keys(recordAt(original, [...base, 'accounts']) ?? {}).toSorted();
  const { value: wanted } = original.at([...base, 'defaultAccount']);
  if (typeof wanted === 'string' && accounts.includes(wanted)) return wanted;
  return accounts.includes('default') ? 'default' : accounts[0];
}

function sayOtherAccounts(
  original: LocatedValue,
  { base, id, account }: { base: Path; id: string; account: string | undefined },
  result: Moves,
): void {
  const accounts = Object.keys(recordAt(original, [...base, 'accounts']) ?? {});
  const others = accounts.filter((name) => name !== account);
  if (account === undefined || others.length === 0) return;
  result.lost.push({
    path: [...base, 'accounts'],
    lost: `replies on ${id} are sent as the account ${account.slice(0, 40)}; its other accounts are not used`,
  });
}
