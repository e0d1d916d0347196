/* What is wrong with the settings of channels, with the key that was meant. */
import { quoted, say } from '../finding.ts';
import type { ChannelProblem } from '../channels/channels.ts';
import type { LoadedConfig } from '../config/config.ts';
import { channelIdOf } from '../action.ts';
import { didYouMean, inWords, replaceWithin, withEdit, type Finding } from '../document/document.ts';
import { isJsonObject } from '../json.ts';

/** A channel with the settings that it cannot be without, as text to paste. */
export function channelBlock(channel: string, required: readonly string[]): string {
  const settings = required.map((key) => settingText(channel, key));
  return `${channel}: {${settings.length === 0 ? '…' : settings.join(', ')}}`;
}

/** A setting as a reference, whose variable is called after both: a setting need not be a secret for that. */
function settingText(channel: string, key: string): string {
  const name = `${channel}_${key.replaceAll(/(?=[A-Z])/g, '_')}`.replaceAll(/\W/g, '_').toUpperCase();
  return `${key}: '\${${name}}'`;
}

type Root = LoadedConfig['root'];

/** The findings; a key that is missing is none where it stands under another name, and those that are missing are one. */
export function describeSettings(
  root: Root,
  problems: readonly ChannelProblem[],
  hintOnRecipient: (channel: string, to: string) => string | undefined,
): readonly Finding[] {
  const told = problems.map((problem) => toldOf(root, problem));
  return told.flatMap((problem, at) => {
    const group = told.filter((other) => other.as === problem.as && other.kind === problem.kind);
    // What is missing, and what nobody knows, is one mistake each.
    const isFirst = problem.kind === 'other' || told.indexOf(group[0] ?? problem) === at;
    const others = told.filter(({ as }) => as === problem.as);
    const missing = group.filter(
      ({ key }) => !others.some((other) => isWebhook(other) || other.meant === key),
    );
    if (problem.kind === 'missing')
      return isFirst && missing.length > 0 ? [missingSettings(root, missing)] : [];
    if (problem.kind === 'unknown') return isFirst ? [unknownSettings(root, group)] : [];
    const found = settingsProblem(root, problem);
    const to = problem.key === 'to' ? root.at(['channels', problem.as, 'to']).value : undefined;
    const hint = typeof to === 'string' ? hintOnRecipient(problem.channel, to) : undefined;
    return [hint === undefined || problem.known !== undefined ? found : { ...found, hint: quoted(hint) }];
  });
}

/** A problem with the name that the channel has in the file, and the key that was meant. */
type Problem = ChannelProblem & {
  readonly as: string;
  readonly meant: string | undefined;
  readonly kind: 'missing' | 'unknown' | 'other';
};

function toldOf(root: Root, problem: ChannelProblem): Problem {
  const as = writtenName(root, problem.channel);
  const near = meantKey(problem);
  // Two keys of one name would be the next finding.
  const meant = near !== undefined && isGiven(root, as, near) ? undefined : near;
  const isUnknown = problem.known !== undefined && meant === undefined && !isWebhook({ ...problem, meant });
  const kind = isGiven(root, as, problem.key) ? (isUnknown ? 'unknown' : 'other') : 'missing';
  return { ...problem, as, meant, kind };
}

/** The name of a channel as it is written: in another case, or another spelling of it. */
function writtenName(root: Root, channel: string): string {
  const { value } = root.at(['channels']);
  const names = isJsonObject(value) ? Object.keys(value) : [];
  return names.find((name) => channelIdOf(name.trim().toLowerCase()) === channel) ?? channel;
}

function isGiven(root: Root, channel: string, key: string | undefined): boolean {
  return key === undefined || root.at(['channels', channel, key]).value !== undefined;
}

function settingsProblem(root: Root, problem: Problem): Finding {
  const { as, key, message, known, meant } = problem;
  const at = root.place(key === undefined ? ['channels', as] : ['channels', as, key], known && 'key');
  const found: Finding = {
    severity: 'error',
    code: 'CHANNEL_SETTINGS',
    // What is wrong with a recipient is a whole sentence.
    message: quoted(key === undefined ? message : `${key}${key === 'to' ? ':' : ''} ${message}`),
    at,
    hint: quoted(channelHint(root, problem)),
  };
  return withEdit(
    found,
    meant === undefined || key === undefined ? undefined : replaceWithin(at, key, meant),
  );
}

function missingSettings(root: Root, missing: readonly Problem[]): Finding {
  const keys = missing.flatMap(({ key }) => key ?? []);
  const [{ as, channel, message }] = missing as readonly [Problem];
  const texts = keys.map((key) => settingText(channel, key)).join(', ');
  return {
    severity: 'error',
    code: 'CHANNEL_SETTINGS',
    message: quoted(keys.length > 1 ? `${inWords(keys)} are required` : `${keys[0] ?? ''} ${message}`),
    at: root.place(['channels', as]),
    hint: say`add ${texts} to channels.${as}${TOKENS[channel] ?? ''}, and set ${keys.length === 1 ? 'that variable' : 'those variables'} where the service starts`,
  };
}

/** Keys that are none of the channel, and mean nothing else here. */
function unknownSettings(root: Root, unknown: readonly Problem[]): Finding {
  const [first] = unknown as readonly [Problem];
  const found = settingsProblem(root, first);
  const keys = unknown.flatMap(({ key }) => key ?? []);
  if (keys.length === 1) return found;
  return {
    ...found,
    message: say`${inWords(keys)} are no settings of this channel; its settings are: ${(first.known ?? []).join(', ')}`,
    hint: say`remove them: a channel only sends here, and takes no messages`,
  };
}

/** What the tokens of bots are, and what they need. */
const TOKENS: Readonly<Record<string, string>> = {
  slack: ', the token xoxb-… of an app with the scope chat:write, which is invited to the channel',
  discord: ', the token of a bot that was added to the server',
  telegram: ', the token that @BotFather issues',
};

function channelHint(root: Root, problem: Problem): string {
  const { as, key, known, meant } = problem;
  if (key === undefined)
    return `run that command where Sluice is installed, with -g where it is installed globally, or remove channels.${as}`;
  if (known === undefined)
    return `correct channels.${as}.${key}; sluice channels check tries it on the platform`;
  if (isWebhook(problem)) return webhookHint(problem, root);
  return meant === undefined ? 'remove it' : `did you mean "${meant}"?`;
}

/** A bot in the place of an incoming webhook. */
function webhookHint({ as, channel, known = [] }: Problem, root: Root): string {
  const texts = known
    .filter((key) => BOT.test(key) && !isGiven(root, as, key))
    .map((key) => settingText(channel, key));
  const instead = texts.length === 0 ? 'remove it' : `write ${texts.join(', ')} in its place`;
  return `${instead}${TOKENS[channel] ?? ''}: messages are sent by a bot to the recipient in "to", never to the address of an incoming webhook`;
}

/** Settings by which a bot is known. */
const BOT = /^(?:botToken|appId|appPassword|tenantId)$/;

/** The address of an incoming webhook, where a bot sends the messages here. */
const isWebhook = ({ key, known, meant }: Pick<Problem, 'key' | 'known' | 'meant'>): boolean =>
  /^url$|webhook/i.test(key ?? '') && meant === undefined && known?.some((name) => BOT.test(name)) === true;

const SECRET = /token|secret|password|api_?key/i;
const RECIPIENT =
  /^(?:chat|channel|room|user|phone|group|recipient|target)(?:_?id|_?number)?$|^default_?(?:to|chat|channel)$/i;

/** The key that was meant by one that a channel does not know: nearly so spelt, or the only one of its kind. */
function meantKey({ channel, key, known }: ChannelProblem): string | undefined {
  if (key === undefined || known === undefined) return undefined;
  const near = didYouMean(key, known);
  if (near !== undefined) return near;
  // A server of one's own has an address; a platform has an incoming webhook there.
  if (channel === 'mattermost' && /^(?:server|api|instance)?_?-?(?:url|host|server|endpoint)$/i.test(key))
    return 'baseUrl';
  if (RECIPIENT.test(key)) return known.find((name) => name === 'to');
  const secrets = SECRET.test(key) ? known.filter((name) => SECRET.test(name)) : [];
  return secrets.length === 1 ? secrets[0] : undefined;
}
